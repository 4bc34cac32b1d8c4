import type { Presence } from "@tessera/admission";
import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { bigint, instant, rowsAs, text } from "@tessera/kit/pg/table";
import type { EventKey } from "./keys.ts";

/** An entry by which a ticket may leave other lists. */
export interface Move extends EventKey {
  readonly position: number;
  /** The list that it enters. */
  readonly list: number;
  readonly at: number;
}

export interface LeftList {
  /** The index of the move. */
  readonly move: number;
  readonly list: number;
  readonly at: number;
  /** Drawn from the sequence: the id of the exit. */
  readonly scanId: number;
  readonly presence: Presence;
}

const columns = { organizer: text, event: text, position: bigint, list: bigint, at: instant };

/**
 * Finds the lists that tickets leave by entering another one, after the entries were stored: those that the entered list takes
 * visitors from, as far as the ticket is inside and did not enter there later; and the entered list itself, if the ticket has
 * entered one later that takes visitors from it, because its entry came late. The tickets must be locked.
 */
export async function findLeftLists(tx: Queryable, moves: readonly Move[]): Promise<LeftList[]> {
  const rows = await tx.many<{
    ord: number;
    list: number;
    scan_id: number;
    version: number;
    entries: number;
    last_at: number;
    left_at: number;
  }>(sql`
    select found.ord, found.list, nextval('scan_id') as scan_id, found.version, found.entries, found.last_at, found.left_at
      from (
    select move.ord, presence.list, presence.version, presence.entries, presence.last_at, move.at as left_at
      from ${rowsAs("move", columns, moves, { isNumbered: true })}
      join list
        on list.organizer = move.organizer and list.event = move.event and list.id = move.list
     cross join unnest(list.takes_from) as left_list (id)
      join presence
        on presence.position = move.position and presence.list = left_list.id and presence.event = move.event
       and presence.organizer = move.organizer
     where presence.last_type = 'entry'
       and presence.last_at <= move.at
       and presence.list <> move.list
     union all
    select move.ord, own.list, own.version, own.entries, own.last_at, min(later.at)
      from ${rowsAs("move", columns, moves, { isNumbered: true })}
      join presence as own
        on own.position = move.position and own.list = move.list and own.event = move.event
       and own.organizer = move.organizer
      join list
        on list.organizer = move.organizer and list.event = move.event and move.list = any(list.takes_from)
       and list.id <> move.list
      join scan as later
        on later.position = move.position and later.list = list.id and later.event = move.event
       and later.organizer = move.organizer
     where own.last_type = 'entry'
       and later.successful
       and later.type = 'entry'
       and later.at > own.last_at
     group by move.ord, own.list, own.version, own.entries, own.last_at) as found`);
  return rows.map(({ ord, list, scan_id: scanId, version, entries, last_at: at, left_at: leftAt }) => ({
    ...{ move: ord - 1, list, at: leftAt, scanId },
    presence: { version, entries, last: { type: "entry", at } },
  }));
}
