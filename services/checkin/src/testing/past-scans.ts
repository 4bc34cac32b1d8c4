import type { Db } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import { type AlarmChanged, AlarmChanged as AlarmFacts } from "@tessera/protos/gen/ticketing/checkin/v1/facts";
import { topics } from "@tessera/protos/topics";
import { place } from "./facts.ts";

export interface StoredScans {
  readonly event?: string;
  readonly gate?: number | null;
  readonly device?: number | null;
  /** The newest, in microseconds since 1970. */
  readonly until: number;
  /** How many seconds they are apart. */
  readonly every?: number;
  readonly count?: number;
  readonly refused?: boolean;
  /** In seconds: how much later they are dated than they came. */
  readonly ahead?: number;
}

/** Stores scans as they would have come in the past. */
export async function storePastScans(
  db: Db,
  { event = place.event, gate = 1, device = 7, until, every = 3, count = 250, refused = false, ahead = 0 }: StoredScans,
): Promise<void> {
  await db.run(sql`
    insert into scan (organizer, event, id, list, type, successful, reason, position, at, created_at, device_id, gate, forced, force_sent,
                      auto_checked_in)
    select ${place.organizer}, ${event}, nextval('scan_id'), 1, 'entry', ${!refused}, ${refused ? "invalid" : null}, 1,
           scanned.at + make_interval(secs => ${ahead}), scanned.at, ${device}, ${gate}, false, false, false
      from (select ${toTimestamp(until)}::timestamptz - make_interval(secs => number * ${every}::double precision) as at
              from generate_series(0, ${count - 1}) as number) as scanned`);
}

/** The facts of alarms in the outbox, and their ids. */
export async function readAlarmFacts(db: Db): Promise<(AlarmChanged & { readonly fact: string })[]> {
  const rows = await db.many<{ payload: Buffer; fact_id: string }>(sql`
    select outbox.payload, outbox.fact_id
      from outbox
     where outbox.topic = ${topics.alarmChanged.name}
     order by outbox.id`);
  return rows.map(({ payload, fact_id: fact }) => ({ ...AlarmFacts.decode(payload), fact }));
}
