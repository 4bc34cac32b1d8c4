import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { Scope } from "../domain/scope.ts";

export interface AmbiguousSecretRow extends Scope {
  readonly count: number;
  readonly positions: { id: number; orderCode: string }[];
}

/**
 * Finds secrets that several positions of one event have, canceled ones left aside: `most` secrets by event and first
 * position, with so many of the positions of each. The secrets themselves stay here.
 */
export async function findAmbiguousSecrets(
  db: Queryable,
  scopes: readonly Scope[],
  { most, mostPositions }: { readonly most: number; readonly mostPositions: number },
): Promise<AmbiguousSecretRow[]> {
  return db.many<AmbiguousSecretRow>(sql`
    select alike.organizer, alike.event, alike.count,
           (select jsonb_agg(jsonb_build_object('id', named.id, 'orderCode', named.order_code) order by named.id)
              from (select position.id, position.order_code
                      from position
                     where (position.organizer || '/' || position.event || '/' || position.secret)
                           = (alike.organizer || '/' || alike.event || '/' || alike.secret)
                       and not position.canceled
                     order by position.id
                     limit ${mostPositions}) as named) as positions
      from (select position.organizer, position.event, position.secret, count(*) as count, min(position.id) as first
              from unnest(${scopes.map(({ organizer }) => organizer)}::text[],
                          ${scopes.map(({ event }) => event)}::text[]) as wanted (organizer, event)
              join position
                on position.organizer = wanted.organizer
                   and position.event = wanted.event
             where not position.canceled
             group by position.organizer, position.event, position.secret
            having count(*) > 1
             order by position.organizer, position.event, first
             limit ${most}) as alike
     order by alike.organizer, alike.event, alike.first`);
}
