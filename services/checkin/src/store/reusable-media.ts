import type { Queryable } from "@tessera/kit/pg/database";
import { toNullableTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";

/** Media belong to no event. */
export interface MediumKey {
  readonly organizer: string;
  readonly id: number;
}

/** What checkin keeps of a reusable medium. */
export interface MediumCopy extends MediumKey {
  readonly revision: number;
  readonly type: string;
  readonly identifier: string;
  readonly active: boolean;
  readonly expires: number | null;
  /** As it stands in the column; the names are those of its JSON. */
  readonly linkedPositions: readonly { readonly event: string; readonly id: number }[];
}

/** Takes over media, unless a newer state is here already. */
export async function putMedia(db: Queryable, media: readonly MediumCopy[]): Promise<void> {
  if (media.length === 0) return;
  await db.run(sql`
    insert into reusable_medium (organizer, id, revision, type, identifier, active, expires_at, linked_positions)
    select sent.organizer, sent.id, sent.revision, sent.type, sent.identifier, sent.active, sent.expires_at,
           sent.linked_positions
      from unnest(${media.map((medium) => medium.organizer)}::text[],
                  ${media.map((medium) => medium.id)}::bigint[],
                  ${media.map((medium) => medium.revision)}::bigint[],
                  ${media.map((medium) => medium.type)}::text[],
                  ${media.map((medium) => medium.identifier)}::text[],
                  ${media.map((medium) => medium.active)}::boolean[],
                  ${media.map((medium) => toNullableTimestamp(medium.expires))}::timestamptz[],
                  ${media.map((medium) => JSON.stringify(medium.linkedPositions))}::jsonb[])
           as sent (organizer, id, revision, type, identifier, active, expires_at, linked_positions)
        on conflict (organizer, id) do update
           set revision = excluded.revision, type = excluded.type, identifier = excluded.identifier,
               active = excluded.active, expires_at = excluded.expires_at, linked_positions = excluded.linked_positions
         where reusable_medium.revision < excluded.revision`);
}

/** Removes media. */
export async function removeMedia(db: Queryable, keys: readonly MediumKey[]): Promise<void> {
  if (keys.length === 0) return;
  await db.run(sql`
    delete from reusable_medium
     using unnest(${keys.map((key) => key.organizer)}::text[], ${keys.map((key) => key.id)}::bigint[]) as gone (organizer, id)
     where reusable_medium.organizer = gone.organizer
       and reusable_medium.id = gone.id`);
}
