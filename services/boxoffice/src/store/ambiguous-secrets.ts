import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { Scope } from "../domain/scope.ts";

export interface AmbiguousSecretRow extends Scope {
  readonly count: number;
  readonly positions: { id: number; orderCode: string }[];
}

/**
 * Finds secrets that several positions of one event have, without canceled ones: `most` secrets by event and first
 * position, with this many positions of each. The secrets themselves are not returned.
 */
export async function findAmbiguousSecrets(
  db: Queryable,
  scopes: readonly Scope[],
  { most, mostPositions }: { readonly most: number; readonly mostPositions: number },
): Promise<AmbiguousSecretRow[]> {
  // Per event: without statistics a plan would otherwise sort a whole event by its full key. In primary-key order: with
  // statistics of a few large events alone, a plan would read the whole table for each.
  return db.many<AmbiguousSecretRow>(sql`
    select wanted.organizer, wanted.event, alike.count,
           (select jsonb_agg(jsonb_build_object('id', named.id, 'orderCode', named.order_code) order by named.id)
              from (select position.id, position.order_code
                      from position
                     where (position.organizer || '/' || position.event || '/' || position.secret)
                           = (wanted.organizer || '/' || wanted.event || '/' || alike.secret)
                       and not position.canceled
                     order by position.id
                     limit ${mostPositions}) as named) as positions
      from unnest(${scopes.map(({ organizer }) => organizer)}::text[],
                  ${scopes.map(({ event }) => event)}::text[]) as wanted (organizer, event)
     cross join lateral (select sold.secret, count(*) as count, min(sold.id) as first
                           from (select position.secret, position.id
                                   from position
                                  where position.organizer = wanted.organizer
                                    and position.event = wanted.event
                                    and not position.canceled
                                  order by position.organizer, position.event, position.id
                                 offset 0) as sold
                          group by sold.secret
                         having count(*) > 1
                          order by first
                          limit ${most}) as alike
     order by wanted.organizer collate "C", wanted.event collate "C", alike.first
     limit ${most}`);
}
