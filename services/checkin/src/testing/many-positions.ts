import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { place } from "./facts.ts";

const perStatement = 10_000;

/** Adds paid tickets quickly, as copies of one. Their ids follow its id; every `shared`-th is called Anna. */
export async function addPositions(
  db: Queryable,
  { event, count, shared = 13 }: { readonly event: string; readonly count: number; readonly shared?: number },
): Promise<void> {
  for (let from = 1; from <= count; from += perStatement)
    await db.run(sql`
    insert into position (organizer, event, id, revision, positionid, order_code, item, secret, order_status, valid_if_pending,
                          require_approval, canceled, blocked, counted_as, attendee_name, sort_name, order_email, order_placed_at,
                          search_text, state, pseudonymization_id)
    select position.organizer, ${event}, made.id, 1, 1, 'O' || made.id, 10 + made.id % 2, ${event} || md5(made.id::text), 'paid',
           false, false, false, false, 'paid', made.name, lower(made.name), made.id || '@example.org', position.order_placed_at,
           E'\n' || lower(made.name) || E'\n' || made.id || '@example.org', position.state, ${event} || made.id
      from position
     cross join lateral (
       select number.id, case when number.id % ${shared} = 0 then 'Anna ' else 'Bert ' end || md5('x' || number.id) as name
         from generate_series(position.id + ${from}::bigint, position.id + ${Math.min(count, from + perStatement - 1)}::bigint) as number (id)) as made
     where position.organizer = ${place.organizer} and position.event = ${place.event} and position.id = 1`);
  await db.run(sql`
    insert into count_delta (organizer, event, list, subevent, item, variation, counted_as, positions, entered, inside)
    select position.organizer, position.event, 0, 0, position.item, 0, 'paid', count(*), 0, 0
      from position
     where position.organizer = ${place.organizer} and position.event = ${event} and position.id > 1
     group by position.organizer, position.event, position.item`);
}
