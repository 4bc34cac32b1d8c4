import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";

/** Where tickets are read. */
export const largeEvent = { organizer: "bench", event: "festival", small: "reading" } as const;

const perStatement = 20_000;

/** When the ticket `number.id` was scanned. */
const scannedAt = sql`timestamptz '2027-01-01' + number.id * interval '10 milliseconds'`;

/**
 * Fills the event with copies of its first ticket, as facts and scans would have: one ticket of thirteen is Anna's, half
 * have the second product, and three of ten were scanned on the first two lists, one after the other.
 */
export async function fillLargeEvent(
  checkin: Db,
  { tickets, onFilled }: { readonly tickets: number; readonly onFilled: (filled: number) => void },
): Promise<void> {
  const { organizer, event } = largeEvent;
  for (let first = 2; first <= tickets; first += perStatement) {
    const last = Math.min(tickets, first + perStatement - 1);
    await checkin.run(sql`
      insert into position (organizer, event, id, revision, positionid, order_code, item, secret, order_status,
                            valid_if_pending, require_approval, canceled, blocked, counted_as, attendee_name, sort_name, order_email,
                            order_placed_at, search_text, state, pseudonymization_id, known_columns)
      select seed.organizer, seed.event, made.id, 1, 1, 'B' || upper(lpad(to_hex(made.id), 7, '0')), 1 + made.id % 2,
             md5('s' || made.id), 'paid', false, false, false, false, 'paid', made.name, lower(made.name), made.id || '@example.org',
             seed.order_placed_at + made.id * interval '1 second',
             E'\n' || lower(made.name) || E'\n' || made.id || '@example.org', seed.state, md5('p' || made.id), seed.known_columns
        from position as seed
       cross join lateral (
         select number.id,
                (array['Anna','Bernd','Clara','David','Elif','Femke','Georg','Hanna','Igor','Jonas','Karla','Liam','Mia'])
                [1 + number.id % 13] || ' ' || initcap(translate(md5('n' || number.id), '0123456789', 'ghijklmnop')) as name
           from generate_series(${first}::bigint, ${last}::bigint) as number (id)) as made
       where seed.organizer = ${organizer} and seed.event = ${event} and seed.id = 1`);
    await checkin.run(sql`
      insert into scan (organizer, event, id, list, position, type, successful, at, forced, force_sent, auto_checked_in)
      select ${organizer}, ${event}, nextval('scan_id'), list.id, number.id, 'entry', true, ${scannedAt}, false, false, false
        from generate_series(${first}::bigint, ${last}::bigint) as number (id)
       cross join generate_series(1, 2) as list (id)
       where number.id % 10 < 3`);
    await checkin.run(sql`
      insert into presence (organizer, event, position, list, version, entries, last_type, last_at)
      select ${organizer}, ${event}, number.id, list.id, 1, 1, 'entry', ${scannedAt}
        from generate_series(${first}::bigint, ${last}::bigint) as number (id)
       cross join generate_series(1, 2) as list (id)
       where number.id % 10 < 3`);
    onFilled(last);
  }
  await checkin.run(sql`
    insert into count_delta (organizer, event, list, subevent, item, variation, counted_as, positions, entered, inside)
    select ${organizer}, ${event}, list.id, 0, 1 + number.id % 2, 0, 'paid', sum(case when list.id = 0 then 1 else 0 end),
           sum(case when list.id = 0 then 0 else 1 end), sum(case when list.id = 0 then 0 else 1 end)
      from generate_series(2, ${tickets}::bigint) as number (id)
     cross join generate_series(0, 2) as list (id)
     where list.id = 0 or number.id % 10 < 3
     group by list.id, 1 + number.id % 2`);
}
