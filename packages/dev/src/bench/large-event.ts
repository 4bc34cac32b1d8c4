import { createHash } from "node:crypto";
import type { Progress } from "@tessera/cli/command/progress";
import { toByteaArray } from "@tessera/kit/pg/binary-array";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";

const place = { organizer: "bench", event: "festival" } as const;

const perStatement = 20_000;

/** The secret of a ticket of the filled event. The statement that fills it says the same. */
export function filledSecret(id: number): string {
  return createHash("md5").update(`s${id}`).digest("hex");
}

/** How many of ten tickets were scanned. */
const scannedOfTen = 3;

/** Whether a ticket of the filled event was scanned. The statement that fills it says the same. */
export function wasScanned(id: number): boolean {
  return id % 10 < scannedOfTen;
}

/** When the ticket `number.id` was scanned. */
const scannedAt = sql`timestamptz '2027-01-01' + number.id * interval '10 milliseconds'`;

/**
 * Fills the event with copies of its first ticket, as facts and scans would have: one ticket of thirteen is Anna's, half
 * have the second product, and some of ten were scanned on the first two lists, one after the other. Then its tables are
 * vacuumed, as those of a database that runs for a while.
 */
export async function fillLargeEvent(
  checkin: Db,
  {
    tickets,
    after = 1,
    progress,
  }: {
    readonly tickets: number;
    /** The last ticket that it has already. */
    readonly after?: number;
    readonly progress: Progress;
  },
): Promise<void> {
  const { organizer, event } = place;
  const stateOf = await stateMaker(checkin);
  for (let first = after + 1; first <= tickets; first += perStatement) {
    const last = Math.min(tickets, first + perStatement - 1);
    const ids = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    await checkin.run(sql`
      insert into position (organizer, event, id, revision, positionid, order_code, item, secret, order_status,
                            valid_if_pending, require_approval, canceled, blocked, counted_as, attendee_name, sort_name, order_email,
                            order_placed_at, search_text, state, pseudonymization_id, known_columns)
      select seed.organizer, seed.event, made.id, 1, 1, 'B' || upper(lpad(to_hex(made.id), 7, '0')), 1 + made.id % 2,
             md5('s' || made.id), 'paid', false, false, false, false, 'paid', made.name, lower(made.name), made.id || '@example.org',
             seed.order_placed_at + made.id * interval '1 second',
             E'\n' || lower(made.name) || E'\n' || made.id || '@example.org', made.state, md5('p' || made.id), seed.known_columns
        from position as seed
       cross join lateral (
         select number.id, number.state,
                (array['Anna','Bernd','Clara','David','Elif','Femke','Georg','Hanna','Igor','Jonas','Karla','Liam','Mia'])
                [1 + number.id % 13] || ' ' || initcap(translate(md5('n' || number.id), '0123456789', 'ghijklmnop')) as name
           from unnest(${ids}::bigint[], ${toByteaArray(ids.map(stateOf))}::bytea[]) as number (id, state)) as made
       where seed.organizer = ${organizer} and seed.event = ${event} and seed.id = 1`);
    await checkin.run(sql`
      insert into scan (organizer, event, id, list, position, type, successful, at, forced, force_sent, auto_checked_in)
      select ${organizer}, ${event}, nextval('scan_id'), list.id, number.id, 'entry', true, ${scannedAt}, false, false, false
        from generate_series(${first}::bigint, ${last}::bigint) as number (id)
       cross join generate_series(1, 2) as list (id)
       where number.id % 10 < ${scannedOfTen}`);
    await checkin.run(sql`
      insert into presence (organizer, event, position, list, version, entries, last_type, last_at)
      select ${organizer}, ${event}, number.id, list.id, 1, 1, 'entry', ${scannedAt}
        from generate_series(${first}::bigint, ${last}::bigint) as number (id)
       cross join generate_series(1, 2) as list (id)
       where number.id % 10 < ${scannedOfTen}`);
    progress.update(`filling… ${last} of ${tickets}`);
  }
  await checkin.run(sql`
    insert into count_delta (organizer, event, list, subevent, item, variation, counted_as, positions, entered, inside)
    select ${organizer}, ${event}, list.id, 0, 1 + number.id % 2, 0, 'paid', sum(case when list.id = 0 then 1 else 0 end),
           sum(case when list.id = 0 then 0 else 1 end), sum(case when list.id = 0 then 0 else 1 end)
      from generate_series(${after + 1}::bigint, ${tickets}::bigint) as number (id)
     cross join generate_series(0, 2) as list (id)
     where list.id = 0 or number.id % 10 < ${scannedOfTen}
     group by list.id, 1 + number.id % 2`);
  progress.update("vacuuming…");
  for (const table of [sql`position`, sql`presence`, sql`scan`, sql`count_delta`])
    await checkin.run(sql`vacuum analyze ${table}`);
}

/** Makes of the first ticket the message of another one, by which it is decided and shown. */
async function stateMaker(checkin: Db): Promise<(id: number) => Uint8Array> {
  const { organizer, event } = place;
  const { state } = await checkin.one<{ state: Buffer }>(sql`
    select position.state
      from position
     where position.organizer = ${organizer} and position.event = ${event} and position.id = 1`);
  const first = Position.decode(state);
  return (id) =>
    Position.encode({
      ...first,
      id,
      item: 1 + (id % 2),
      secret: filledSecret(id),
      attendeeName: `${first.attendeeName ?? "Attendee"} ${id}`,
    }).finish();
}
