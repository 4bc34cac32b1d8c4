import { get } from "node:https";
import type { Clock } from "@tessera/kit/clock";

/** A server on this machine answers in milliseconds, and across a network in tens of them. */
const patienceMs = 3000;

/** Sends a request within a few seconds and without redirects; also returns by how much the clock there is ahead, at least. */
export async function askHttp(
  url: string,
  { signal, clock }: { signal: AbortSignal; clock: Clock },
): Promise<{ readonly text: string; readonly skewMs: number | undefined }> {
  const asked = clock.now() / 1000;
  const limited = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  const response = await fetch(url, { signal: limited, redirect: "manual" });
  const skewMs = skewByDate(response.headers.get("date"), { asked, answered: clock.now() / 1000 });
  return { text: await response.text(), skewMs };
}

/** As askHttp, of a server whose authority is in this file; returns by how much the clock there is ahead, at least. */
export function askSkew(
  url: string,
  { signal, clock, ca }: { signal: AbortSignal; clock: Clock; ca: Buffer | undefined },
): Promise<number | undefined> {
  const asked = clock.now() / 1000;
  return new Promise((resolve, reject) => {
    const options = { signal, timeout: patienceMs, ...(ca === undefined ? {} : { ca }) };
    const request = get(url, options, (response) => {
      response.destroy();
      resolve(skewByDate(response.headers.date ?? null, { asked, answered: clock.now() / 1000 }));
    });
    request.on("timeout", () => request.destroy(new Error(`no answer within ${patienceMs} ms`)));
    request.on("error", reject);
  });
}

/**
 * By how much an HTTP Date is ahead, at least. It is some moment of the request, rounded down to whole seconds, so only
 * what lies outside of all such moments counts. Undefined: there is no date.
 */
export function skewByDate(
  date: string | null,
  { asked, answered }: { asked: number; answered: number },
): number | undefined {
  const there = Date.parse(date ?? "");
  if (Number.isNaN(there)) return undefined;
  if (there > answered) return there - answered;
  return Math.min(0, there + 1000 - asked);
}
