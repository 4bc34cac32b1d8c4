import type { Clock } from "@tessera/kit/clock";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { askHttp } from "./ask-tessera.ts";
import { type Finding, skipped, well } from "./finding.ts";
import { judgeSkew, skewByDate } from "./judge-skew.ts";
import type { Surroundings } from "./surroundings.ts";

/** Compares the clock of this machine with the database's and the file store's. */
export async function examineClock(around: Surroundings, signal: AbortSignal): Promise<Finding[]> {
  const { clock, database } = around;
  const { admin } = database;
  const findings = await compareWithFiles(around, signal);
  if ((await database.absence()) !== undefined || admin === undefined)
    return [...findings, skipped("the database's clock", "there is no database that answers")];
  const skewMs = await compareWithDatabase(admin, clock);
  const judged = judgeSkew("the database's machine", skewMs);
  const near = well(`the database's clock and this one are ${Math.abs(skewMs).toFixed(0)} ms apart`);
  return [...findings, ...(judged.length > 0 ? judged : [near])];
}

/** By how much the database's clock is ahead, in milliseconds: by the quickest of some questions, and its middle. */
async function compareWithDatabase(db: Db, clock: Clock): Promise<number> {
  let best = { took: Number.POSITIVE_INFINITY, skew: 0 };
  for (let round = 0; round < 3; round += 1) {
    const asked = clock.now();
    const { now } = await db.one<{ now: number }>(sql`select clock_timestamp() as now`);
    const answered = clock.now();
    const took = answered - asked;
    if (took < best.took) best = { took, skew: now - (asked + answered) / 2 };
  }
  return best.skew / 1000;
}

/** A store of Amazon's kind refuses requests of a clock that is a quarter of an hour off, and tells its own to everybody. */
async function compareWithFiles({ config, clock }: Surroundings, signal: AbortSignal): Promise<Finding[]> {
  if (config.files !== "s3") return [];
  const url = config.s3Endpoint ?? `https://s3.${config.s3Region}.amazonaws.com/`;
  // That it cannot be reached is told with the files.
  const said = await askHttp(url, { signal, now: () => clock.now() / 1000 }).catch(() => undefined);
  const skewMs = said === undefined ? undefined : skewByDate(said.date, said);
  return skewMs === undefined ? [] : judgeSkew("the file store's machine", skewMs);
}
