import type { Queryable } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import type { Presence, ScanType } from "../domain/presence.ts";
import type { EntityKey, EventKey } from "./keys.ts";

/** A ticket on a list. */
export interface PresenceKey extends EventKey {
  readonly position: number;
  readonly list: number;
}

/**
 * Holds the lists that these tickets, or these keys, have to do with: none of
 * them is deleted before the transaction ends. Deleted lists are left out.
 * Of tickets that are deleted, all scans are removed: their lists are held for refusals, too.
 */
export async function holdLists(
  tx: Queryable,
  {
    tickets,
    gone,
    keys,
  }: {
    readonly tickets: readonly EntityKey[];
    readonly gone: readonly EntityKey[];
    readonly keys: readonly PresenceKey[];
  },
): Promise<void> {
  if (tickets.length === 0 && gone.length === 0 && keys.length === 0) return;
  const listsOfGone = sql`
             union
            select scan.organizer, scan.event, scan.list
              from unnest(${gone.map((ticket) => ticket.organizer)}::text[],
                          ${gone.map((ticket) => ticket.event)}::text[],
                          ${gone.map((ticket) => ticket.id)}::bigint[]) as gone (organizer, event, id)
              join scan
                on scan.organizer = gone.organizer and scan.event = gone.event and scan.position = gone.id`;
  await tx.run(sql`
    select list.id
      from list
      join (select presence.organizer, presence.event, presence.list
              from unnest(${tickets.map((ticket) => ticket.organizer)}::text[],
                          ${tickets.map((ticket) => ticket.event)}::text[],
                          ${tickets.map((ticket) => ticket.id)}::bigint[]) as ticket (organizer, event, id)
              join presence
                on presence.organizer = ticket.organizer and presence.event = ticket.event
                   and presence.position = ticket.id
             union
            select named.organizer, named.event, named.list
              from unnest(${keys.map((key) => key.organizer)}::text[],
                          ${keys.map((key) => key.event)}::text[],
                          ${keys.map((key) => key.list)}::bigint[]) as named (organizer, event, list)
            ${gone.length === 0 ? sql`` : listsOfGone}) as concerned
        on concerned.organizer = list.organizer and concerned.event = list.event and concerned.list = list.id
     order by list.organizer, list.event, list.id
       for key share of list`);
}

/** Reads presences of tickets that the caller holds, so that they do not change meanwhile. */
export async function readPresences(
  tx: Queryable,
  keys: readonly PresenceKey[],
): Promise<(PresenceKey & { readonly presence: Presence })[]> {
  if (keys.length === 0) return [];
  const rows = await tx.many<
    PresenceKey & { version: number; entries: number; last_type: ScanType; last_at: number }
  >(sql`
    select presence.organizer, presence.event, presence.position, presence.list, presence.version, presence.entries,
           presence.last_type, presence.last_at
      from unnest(${keys.map((key) => key.organizer)}::text[], ${keys.map((key) => key.event)}::text[],
                  ${keys.map((key) => key.position)}::bigint[], ${keys.map((key) => key.list)}::bigint[])
           as wanted (organizer, event, position, list)
      join presence
        on presence.organizer = wanted.organizer and presence.event = wanted.event
           and presence.position = wanted.position and presence.list = wanted.list`);
  return rows.map(({ organizer, event, position, list, version, entries, last_type, last_at }) => ({
    organizer,
    event,
    position,
    list,
    presence: { version, entries, last: { type: last_type, at: last_at } },
  }));
}

/** Stores presences of tickets that the caller holds. */
export async function putPresences(
  tx: Queryable,
  presences: readonly (PresenceKey & { readonly presence: Presence })[],
): Promise<void> {
  const scanned = presences.flatMap(({ presence, ...key }) =>
    presence.last === null ? [] : [{ ...key, ...presence, last: presence.last }],
  );
  if (scanned.length === 0) return;
  await tx.run(sql`
    insert into presence (organizer, event, position, list, version, entries, last_type, last_at)
    select sent.organizer, sent.event, sent.position, sent.list, sent.version, sent.entries, sent.last_type, sent.last_at
      from unnest(${scanned.map((row) => row.organizer)}::text[],
                  ${scanned.map((row) => row.event)}::text[],
                  ${scanned.map((row) => row.position)}::bigint[],
                  ${scanned.map((row) => row.list)}::bigint[],
                  ${scanned.map((row) => row.version)}::bigint[],
                  ${scanned.map((row) => row.entries)}::bigint[],
                  ${scanned.map((row) => row.last.type)}::text[],
                  ${scanned.map((row) => toTimestamp(row.last.at))}::timestamptz[])
           as sent (organizer, event, position, list, version, entries, last_type, last_at)
     order by sent.position, sent.list, sent.event, sent.organizer
        on conflict (position, list, event, organizer) do update
           set version = excluded.version, entries = excluded.entries,
               last_type = excluded.last_type, last_at = excluded.last_at`);
}

/** Removes the presences and all scans of tickets that are deleted. */
export async function forgetScansOf(tx: Queryable, tickets: readonly EntityKey[]): Promise<void> {
  if (tickets.length === 0) return;
  for (const table of [sql`presence`, sql`scan`]) {
    await tx.run(sql`
      delete from ${table} as held
       using unnest(${tickets.map((ticket) => ticket.organizer)}::text[],
                    ${tickets.map((ticket) => ticket.event)}::text[],
                    ${tickets.map((ticket) => ticket.id)}::bigint[]) as gone (organizer, event, id)
       where held.organizer = gone.organizer
         and held.event = gone.event
         and held.position = gone.id`);
  }
}

/** Removes the answers that deleted tickets were given at gates, and returns the tickets that had any. */
export async function forgetAnswersOf(tx: Queryable, tickets: readonly EntityKey[]): Promise<EntityKey[]> {
  if (tickets.length === 0) return [];
  const forgotten = await tx.many<EntityKey>(sql`
    delete from given_answer as held
     using unnest(${tickets.map((ticket) => ticket.organizer)}::text[],
                  ${tickets.map((ticket) => ticket.event)}::text[],
                  ${tickets.map((ticket) => ticket.id)}::bigint[]) as gone (organizer, event, id)
     where held.organizer = gone.organizer
       and held.event = gone.event
       and held.position = gone.id
    returning held.organizer, held.event, held.position as id`);
  return [...new Map(forgotten.map((key) => [`${key.organizer}/${key.event}/${key.id}`, key])).values()];
}
