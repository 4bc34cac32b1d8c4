import type { Queryable } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import { inSlices } from "@tessera/kit/waiting/in-slices";
import type { ExportScansRequest, ExportScansResponse } from "@tessera/protos/gen/ticketing/checkin/v1/history";
import { nameItems } from "../domain/item-names.ts";
import { fault } from "../faults.ts";
import { requireEvent } from "../store/events.ts";
import { type ExportedRow, findDeletions, openSpan, readExportedScans } from "../store/exported-scans.ts";
import type { EventKey } from "../store/keys.ts";
import { findListNames, findNamedItems } from "../store/names.ts";
import { toScanFilter } from "../wire/history.ts";
import { jsonLines, type ScanNames, tableLines } from "../wire/scan-lines.ts";
import { requireFilteredList } from "./list-scans.ts";

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
    const found = await readExportedScans(db, filter, place);
    const names = await findNames(db, filter, { rows: found.rows, locale });
    const moment = await findDeletions(db, { ...filter, since: place.snapshot });
    if (moment.isCut || moment.epoch !== place.epoch)
      throw fault("export_interrupted", "Tickets or lists were deleted during the export; begin it again.");
    const lines = [request.place === undefined ? head : ""];
    await inSlices(found.rows, (row) => lines.push(write(row, names)));
    const isOver = found.last === null || found.last >= place.until;
    return {
      lines: Buffer.from(lines.join("")),
      next: isOver ? undefined : { ...place, after: found.last, snapshot: moment.snapshot },
    };
  });
}

async function findNames(
  db: Queryable,
  place: EventKey,
  { rows, locale }: { readonly rows: readonly ExportedRow[]; readonly locale: string },
): Promise<ScanNames> {
  const lists = new Set(rows.map((row) => row[7]));
  const items = new Set(rows.map((row) => row[11]).filter((item) => item !== null));
  return {
    lists: await findListNames(db, place, [...lists]),
    items: nameItems(await findNamedItems(db, place, [...items]), locale),
  };
}
