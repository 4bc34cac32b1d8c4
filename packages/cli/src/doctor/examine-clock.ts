import { readTlsFiles } from "@tessera/engines/tls-files";
import type { Clock } from "@tessera/kit/clock";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { s3Tls } from "../open-engines.ts";
import { askHttp, askSkew } from "./ask-http.ts";
import { type Finding, ok, only, skipped, warning, wrong } from "./finding.ts";
import type { Surroundings } from "./surroundings.ts";

/** Leases and the validity of tickets are measured in seconds: less than the first does not matter. */
const warnedMs = 1000;
const wrongMs = 5000;

/** Compares the clock of this machine with the database's and the file store's. */
export async function examineClock(around: Surroundings, signal: AbortSignal): Promise<Finding[]> {
  const { clock, database } = around;
  const findings = await compareWithFiles(around, signal);
  const db = await database.connect().catch(() => undefined);
  if (db === undefined) return [...findings, skipped("the database's clock", "no database answers")];
  const skewMs = await compareWithDatabase(db, clock);
  const near = ok(`the database's clock and this one are ${Math.abs(skewMs).toFixed(0)} ms apart`);
  return [...findings, ...only([judgeSkew("the database's machine", skewMs) || near])];
}

/** Judges by how much another clock is ahead of ours; false: they agree. */
export function judgeSkew(other: string, skewMs: number | undefined): Finding | false {
  const off = Math.abs(skewMs ?? 0);
  if (skewMs === undefined || off <= warnedMs) return false;
  const judge = off > wrongMs ? wrong : warning;
  const side = skewMs > 0 ? "ahead of" : "behind";
  return judge(`the clock of ${other} is ${(off / 1000).toFixed(1)} seconds ${side} the clock of this machine`, {
    why: "scans, validity and the order of events are judged by both",
    mend: "synchronize both machines by NTP (chronyc tracking, timedatectl)",
  });
}

/** By how many milliseconds the database's clock is ahead, measured at the middle of the question. */
async function compareWithDatabase(db: Db, clock: Clock): Promise<number> {
  const asked = clock.now();
  const { now } = await db.one<{ now: number }>(sql`select clock_timestamp() as now`);
  return (now - (asked + clock.now()) / 2) / 1000;
}

/** S3 refuses requests when the clocks are a quarter of an hour apart, and sends its own time without authentication. */
async function compareWithFiles({ config, clock }: Surroundings, signal: AbortSignal): Promise<Finding[]> {
  if (config.files !== "s3") return [];
  const url = config.s3Endpoint ?? `https://s3.${config.s3Region}.amazonaws.com/`;
  // The examination of the files reports a server that does not answer.
  const skewMs = await askClock(url, { config, signal, clock }).catch(() => undefined);
  return only([judgeSkew("the file store's machine", skewMs)]);
}

async function askClock(
  url: string,
  { config, signal, clock }: Pick<Surroundings, "config" | "clock"> & { signal: AbortSignal },
): Promise<number | undefined> {
  const { authority } = s3Tls(config);
  if (authority === undefined) return (await askHttp(url, { signal, clock })).skewMs;
  return askSkew(url, { signal, clock, ca: readTlsFiles({ authority }).ca });
}
