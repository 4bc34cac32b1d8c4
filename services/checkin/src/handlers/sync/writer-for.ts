import type { Db } from "@tessera/kit/pg/database";
import { type KindOfEvents, type RowOfKind, readGivenOfTickets } from "../../store/synced-rows.ts";
import type { Asked } from "../../wire/sync-cursor.ts";
import { writeSynced, writeTicket } from "../../wire/sync-lines.ts";

/** Makes what writes rows of a kind: reads first what belongs to them. */
export async function writerFor<K extends KindOfEvents>(
  db: Db,
  kind: K,
  { organizer, rows, hash }: Pick<Asked, "organizer" | "hash"> & { readonly rows: readonly RowOfKind[K][] },
): Promise<(row: RowOfKind[K]) => string> {
  if (kind !== "ticket") return (row) => writeSynced(kind, row, hash);
  const given = await readGivenOfTickets(db, { organizer, keys: rows });
  const byTicket = Map.groupBy(given, ({ event, position }) => `${event}/${position}`);
  return (row) => writeTicket(row as RowOfKind["ticket"], byTicket.get(`${row.event}/${row.id}`) ?? [], hash);
}
