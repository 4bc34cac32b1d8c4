import type { Presence, ScanType } from "@tessera/admission";
import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { bigint, instant, rowsAs, text } from "@tessera/kit/pg/table";
import { type EntityKey, type EventKey, keysAs, nameOf } from "./keys.ts";
import { presenceByKey } from "./presence-by-key.ts";

export interface PresenceKey extends EventKey {
  readonly position: number;
  readonly list: number;
}

const keyColumns = { organizer: text, event: text, position: bigint, list: bigint };

/**
 * Locks the lists of these keys and tickets against deletion until the transaction ends; deleted lists are left out. A
 * deleted ticket loses all its scans, so the lists of its refusals are locked, too.
 */
export async function lockTicketLists(
  tx: Queryable,
  {
    tickets,
    deleted,
    keys,
  }: {
    readonly tickets: readonly EntityKey[];
    readonly deleted: readonly EntityKey[];
    readonly keys: readonly PresenceKey[];
  },
): Promise<void> {
  if (tickets.length === 0 && deleted.length === 0 && keys.length === 0) return;
  const listsOfDeleted = sql`
             union
            select scan.organizer, scan.event, scan.list
              from ${keysAs("deleted", deleted)}
              join scan
                on scan.organizer = deleted.organizer and scan.event = deleted.event and scan.position = deleted.id`;
  await tx.run(sql`
    select list.id
      from list
      join (select presence.organizer, presence.event, presence.list
              from ${keysAs("ticket", tickets)}
              join presence
                on presence.organizer = ticket.organizer and presence.event = ticket.event
                   and presence.position = ticket.id
             union
            select named.organizer, named.event, named.list
              from ${rowsAs("named", keyColumns, keys)}
            ${deleted.length === 0 ? sql`` : listsOfDeleted}) as concerned
        on concerned.organizer = list.organizer and concerned.event = list.event and concerned.list = list.id
     order by list.organizer, list.event, list.id
       for key share of list`);
}

/** Reads presences of tickets that the caller has locked. */
export async function readPresences(
  tx: Queryable,
  keys: readonly PresenceKey[],
): Promise<(PresenceKey & { readonly presence: Presence })[]> {
  if (keys.length === 0) return [];
  const rows = await tx.many<PresenceKey & PresenceRow>(sql`
    select presence.organizer, presence.event, presence.position, presence.list, presence.version, presence.entries,
           presence.last_type, presence.last_at
      from ${rowsAs("wanted", keyColumns, keys)}
     cross join lateral (${presenceByKey(
       sql`wanted.position, wanted.list, wanted.event, wanted.organizer`,
     )}) as presence`);
  return rows.map(({ version, entries, last_type, last_at, ...key }) => ({
    ...key,
    presence: toPresence({ version, entries, last_type, last_at }),
  }));
}

export interface PresenceRow {
  readonly version: number;
  readonly entries: number;
  readonly last_type: ScanType | null;
  readonly last_at: number | null;
}

export function toPresence({ version, entries, last_type: type, last_at: at }: PresenceRow): Presence {
  return { version, entries, last: type === null || at === null ? null : { type, at } };
}

const presenceColumns = {
  ...keyColumns,
  version: bigint,
  entries: bigint,
  lastType: text.orNull,
  lastAt: instant.orNull,
};

/** Stores presences of tickets that the caller has locked. */
export async function putPresences(
  tx: Queryable,
  presences: readonly (PresenceKey & { readonly presence: Presence })[],
): Promise<void> {
  const scanned = presences.flatMap(({ presence, ...key }) =>
    presence.version === 0
      ? []
      : [{ ...key, ...presence, lastType: presence.last?.type ?? null, lastAt: presence.last?.at ?? null }],
  );
  if (scanned.length === 0) return;
  await tx.run(sql`
    insert into presence (organizer, event, position, list, version, entries, last_type, last_at)
    select sent.organizer, sent.event, sent.position, sent.list, sent.version, sent.entries, sent.last_type, sent.last_at
      from ${rowsAs("sent", presenceColumns, scanned)}
     order by sent.position, sent.list, sent.event, sent.organizer
        on conflict (position, list, event, organizer) do update
           set version = excluded.version, entries = excluded.entries,
               last_type = excluded.last_type, last_at = excluded.last_at`);
}

/** Deletes the presences and all scans of deleted tickets, and what was noted about them. */
export async function deleteScansOf(tx: Queryable, tickets: readonly EntityKey[]): Promise<void> {
  if (tickets.length === 0) return;
  for (const table of [sql`presence`, sql`double_note`, sql`scan`]) {
    await tx.run(sql`
      delete from ${table} as held
       using ${keysAs("deleted", tickets)}
       where held.organizer = deleted.organizer
         and held.event = deleted.event
         and held.position = deleted.id`);
  }
}

/** Deletes the answers that deleted tickets were given at gates, and returns the tickets that had any. */
export async function deleteAnswersOf(tx: Queryable, tickets: readonly EntityKey[]): Promise<EntityKey[]> {
  if (tickets.length === 0) return [];
  const answered = await tx.many<EntityKey>(sql`
    delete from given_answer as held
     using ${keysAs("deleted", tickets)}
     where held.organizer = deleted.organizer
       and held.event = deleted.event
       and held.position = deleted.id
    returning held.organizer, held.event, held.position as id`);
  return [...new Map(answered.map((key) => [nameOf(key), key])).values()];
}
