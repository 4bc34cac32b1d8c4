import type { Finding } from "./finding.ts";

/** Sessions, leases and the validity of keys are told in seconds; what is off by less than the first is noise. */
const warnedMs = 1000;
const wrongMs = 5000;

/** Judges by how much another clock is ahead of ours; nothing where they agree. */
export function judgeSkew(whose: string, skewMs: number): Finding[] {
  const off = Math.abs(skewMs);
  if (off <= warnedMs) return [];
  const side = skewMs > 0 ? "ahead of" : "behind";
  return [
    {
      level: off > wrongMs ? "wrong" : "warning",
      what: `the clock of ${whose} is ${(off / 1000).toFixed(1)} seconds ${side} that of this machine`,
      why: "scans, validity and the order of things are judged by both",
      mend: "have both machines keep their time by NTP (chronyc tracking, timedatectl)",
    },
  ];
}

/**
 * By how much an HTTP Date is ahead, at least. It tells whole seconds, cut off, at some moment of a request: only what
 * lies outside of all that counts. Undefined: there is no date.
 */
export function skewByDate(
  date: string | null,
  { asked, answered }: { asked: number; answered: number },
): number | undefined {
  const told = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(told)) return undefined;
  if (told > answered) return told - answered;
  const latest = told + 1000;
  return latest < asked ? latest - asked : 0;
}
