import type { Queryable } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import { inSlices } from "@tessera/kit/waiting/in-slices";
import type { ExportScansRequest, ExportScansResponse } from "@tessera/protos/gen/ticketing/checkin/v1/history";
import { nameItems } from "../domain/item-names.ts";
import { fault } from "../faults.ts";
import { requireEvent } from "../store/events.ts";
import {
  type ExportedRow,
  type ExportedScans,
  findDeletions,
  openSpan,
  readExportedScans,
} from "../store/exported-scans.ts";
import type { EventKey } from "../store/keys.ts";
import { findListNames, findNamedItems, type NamedItem } from "../store/names.ts";
import { toScanFilter } from "../wire/history.ts";
import { jsonLines, type ScanNames, tableLines } from "../wire/scan-lines.ts";
import { requireFilteredList } from "./list-scans.ts";

/** Reads whose lines are one answer, of about two megabytes: callers hold some of them. */
const readsEach = 4;

/**
 * Writes the next scans of an export, in the order of their ids: no long transaction, and no snapshot that a database has to keep.
 *
 * What was stored when the export began is written once, whatever comes meanwhile. Where something of it is deleted, or the database is
 * another one, the export fails: it would look whole.
 */
export async function exportScans(
  request: ExportScansRequest,
  { reads }: { readonly reads: Reads },
): Promise<ExportScansResponse> {
  const filter = toScanFilter(request);
  const { head, write } = request.isTable ? tableLines : jsonLines;
  return reads.inTurn(request.organizer, async (db) => {
    const { locale } = await requireEvent(db, request);
    if (request.place === undefined) await requireFilteredList(db, request);
    const place = request.place ?? { after: 0, ...(await openSpan(db, request)) };
    const isOver = ({ last }: ExportedScans) => last === null || last >= place.until;
    const namesFor = namer(db, filter, { locale });
    const lines = [request.place === undefined ? head : ""];
    let found = await readExportedScans(db, filter, place);
    for (let read = 1; ; read += 1) {
      const names = await namesFor(found.rows);
      // The database reads on while the lines are written.
      const after = isOver(found) || read === readsEach ? null : found.last;
      const next = after === null ? undefined : readExportedScans(db, filter, { ...place, after });
      // It is waited for when the lines are written.
      next?.catch(() => {});
      await inSlices(found.rows, (row) => lines.push(write(row, names)));
      if (next === undefined) break;
      found = await next;
    }
    const moment = await findDeletions(db, { ...filter, since: place.snapshot });
    if (moment.isCut || moment.epoch !== place.epoch)
      throw fault("export_interrupted", "Tickets or lists were deleted during the export; begin it again.");
    return {
      lines: Buffer.from(lines.join("")),
      next: isOver(found) ? undefined : { ...place, after: found.last ?? 0, snapshot: moment.snapshot },
    };
  });
}

/** Finds the names of lists and items, those of each read that the reads before did not have. */
function namer(db: Queryable, place: EventKey, { locale }: { readonly locale: string }) {
  const lists = new Map<number, string | null>();
  const items = new Map<number, NamedItem | null>();
  let names: ScanNames = nameScans(lists, items, locale);
  return async (rows: readonly ExportedRow[]): Promise<ScanNames> => {
    const newLists = [...new Set(rows.map((row) => row[7]))].filter((id) => !lists.has(id));
    const newItems = [...new Set(rows.map((row) => row[11]))]
      .filter((id) => id !== null)
      .filter((id) => !items.has(id));
    if (newLists.length === 0 && newItems.length === 0) return names;
    const [foundLists, foundItems] = [
      await findListNames(db, place, newLists),
      new Map((await findNamedItems(db, place, newItems)).map((item) => [item.id, item])),
    ];
    for (const id of newLists) lists.set(id, foundLists.get(id) ?? null);
    for (const id of newItems) items.set(id, foundItems.get(id) ?? null);
    names = nameScans(lists, items, locale);
    return names;
  };
}

function nameScans(
  lists: ReadonlyMap<number, string | null>,
  items: ReadonlyMap<number, NamedItem | null>,
  locale: string,
): ScanNames {
  return {
    lists,
    items: nameItems(
      [...items.values()].filter((item) => item !== null),
      locale,
    ),
  };
}
