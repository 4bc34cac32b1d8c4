import type { Reads } from "@tessera/kit/pg/reads";
import { inSlices } from "@tessera/kit/waiting/in-slices";
import type { ExportScansRequest, ExportScansResponse } from "@tessera/protos/gen/ticketing/checkin/v1/history";
import { nameItems } from "../domain/item-names.ts";
import { fault } from "../faults.ts";
import { requireEvent } from "../store/events.ts";
import { type ExportedScans, findDeletions, openSpan, readExportedScans } from "../store/exported-scans.ts";
import { listItems } from "../store/items.ts";
import { findListNames } from "../store/lists.ts";
import { toScanFilter } from "../wire/history.ts";
import { jsonLines, tableLines } from "../wire/scan-lines.ts";
import { requireKnown } from "./unknown-ids.ts";

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
    if (request.place === undefined) await requireKnown(db, request, { list: request.list });
    const place = request.place ?? { after: 0, ...(await openSpan(db, request)) };
    const isOver = ({ last }: ExportedScans) => last === null || last >= place.until;
    const names = {
      lists: await findListNames(db, request),
      items: nameItems(await listItems(db, request), locale),
    };
    const lines = [request.place === undefined ? head : ""];
    let found = await readExportedScans(db, filter, place);
    for (let read = 1; ; read += 1) {
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
