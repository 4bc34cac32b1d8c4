import type { Queryable } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { bigint, rowsAs } from "@tessera/kit/pg/table";
import type { StoredScan } from "../domain/find-doubles.ts";
import type { ListFields } from "../domain/list.ts";
import type { EventKey } from "./keys.ts";

export interface TicketOnList {
  readonly position: number;
  readonly list: number;
}

/** Must equal the condition of the partial index `doubtful_scan`. */
const isDoubtful = sql`
  ((scan.successful and scan.type = 'entry' and (scan.overruled is not null or scan.out_of_order))
   or (scan.annulled_at is not null and scan.type = 'exit'))`;

/** Finds the next tickets and lists with a scan that may be part of a double, in the order of ids. */
export async function nextDoubtful(
  db: Queryable,
  { organizer, event }: EventKey,
  asked: {
    readonly after: TicketOnList | undefined;
    readonly limit: number;
    readonly position?: number | undefined;
    readonly list?: number | undefined;
  },
): Promise<TicketOnList[]> {
  const { after, limit, position, list } = asked;
  return db.many<TicketOnList>(sql`
    select distinct scan.position, scan.list
      from scan
     where scan.organizer = ${organizer}
       and scan.event = ${event}
       and ${isDoubtful}
       and (scan.position, scan.list) > (${after?.position ?? 0}, ${after?.list ?? 0}::bigint)${equals(sql`scan.position`, position)}${equals(sql`scan.list`, list)}
     order by scan.position, scan.list
     limit ${limit}`);
}

function equals(column: Sql, id: number | undefined): Sql {
  return id === undefined
    ? sql``
    : sql`
       and ${column} = ${id}`;
}

/** The scans of one ticket on one list, in the order of time, and what the list allows. */
export interface ScansOnList extends TicketOnList {
  readonly terms: Pick<ListFields, "allowMultipleEntries" | "allowEntryAfterExit">;
  readonly scans: StoredScan[];
}

type Row = StoredScan & { readonly ord: number } & ScansOnList["terms"];

const keyColumns = { position: bigint, list: bigint };

/** Reads what `findDoubles` asks for, of these tickets. Lists that are deleted are left out. */
export async function readScansOnLists(
  db: Queryable,
  { organizer, event }: EventKey,
  tickets: readonly TicketOnList[],
): Promise<ScansOnList[]> {
  // The inner order keeps each ticket a read of its own index: planned as a join, the statement might read the whole event.
  const rows = await db.many<Row>(sql`
    select asked.ord, list.allow_multiple_entries as "allowMultipleEntries",
           list.allow_entry_after_exit as "allowEntryAfterExit", scan.id, scan.type, scan.at,
           scan.created_at as "createdAt", scan.device, scan.device_id as "deviceId", scan.gate, scan.overruled,
           scan.out_of_order as "isOutOfOrder", not scan.successful as "isAnnulled",
           scan.auto_checked_in as "autoCheckedIn"
      from ${rowsAs("asked", keyColumns, tickets, { isNumbered: true })}
      join list on list.organizer = ${organizer} and list.event = ${event} and list.id = asked.list
     cross join lateral (
       select scan.id, scan.type, scan.at, scan.created_at, scan.device, scan.device_id, scan.gate, scan.overruled,
              scan.out_of_order, scan.successful, scan.auto_checked_in
         from scan
        where scan.position = asked.position
          and scan.list = asked.list
          and scan.event = ${event}
          and scan.organizer = ${organizer}
          and (scan.successful or (scan.annulled_at is not null and scan.type = 'exit'))
        order by scan.at, scan.id
     ) as scan
     order by asked.ord, scan.at, scan.id`);
  const found = new Map<number, ScansOnList>();
  for (const { ord, allowMultipleEntries, allowEntryAfterExit, ...scan } of rows) {
    const ticket = tickets[ord - 1];
    const known = found.get(ord);
    if (known !== undefined) known.scans.push(scan);
    else if (ticket !== undefined)
      found.set(ord, { ...ticket, terms: { allowMultipleEntries, allowEntryAfterExit }, scans: [scan] });
  }
  return [...found.values()];
}

/** Finds the ticket and the list of a successful scan. */
export async function findPlaceOfScan(
  db: Queryable,
  { organizer, event }: EventKey,
  id: number,
): Promise<TicketOnList | undefined> {
  return db.maybeOne<TicketOnList>(sql`
    select scan.position, scan.list
      from scan
     where scan.organizer = ${organizer}
       and scan.event = ${event}
       and scan.id = ${id}
       and scan.successful`);
}
