import type { ScanType } from "@tessera/admission";
import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { bigint, boolean, instant, rowsAs, text } from "@tessera/kit/pg/table";
import type { PresenceKey } from "./presences.ts";

/** A successful scan that was made elsewhere. */
export interface EarlierScan extends PresenceKey {
  /** The id of the scan where it was made, unique within its position. */
  readonly importedId: number;
  readonly type: ScanType;
  readonly at: number;
  readonly gate?: number | undefined;
  readonly device?: number | undefined;
  readonly deviceId?: number | undefined;
  readonly autoCheckedIn: boolean;
}

const columns = {
  organizer: text,
  event: text,
  list: bigint,
  position: bigint,
  type: text,
  at: instant,
  device: bigint.orNull,
  deviceId: bigint.orNull,
  gate: bigint.orNull,
  autoCheckedIn: boolean,
  importedId: bigint,
};

/** Ten thousand scans take about half a second; a statement has a time limit. */
const addedAtOnce = 2000;

/**
 * Adds scans to the history; returns the indexes of the new ones. The caller has locked the lists; a deleted list stays
 * empty.
 */
export async function addEarlierScans(tx: Queryable, scans: readonly EarlierScan[]): Promise<Set<number>> {
  const added = new Set<string>();
  for (let at = 0; at < scans.length; at += addedAtOnce)
    for (const name of await addSome(tx, scans.slice(at, at + addedAtOnce))) added.add(name);
  return new Set(scans.flatMap((scan, index) => (added.has(nameOfEarlierScan(scan)) ? [index] : [])));
}

async function addSome(tx: Queryable, scans: readonly EarlierScan[]): Promise<string[]> {
  const rows = await tx.many<Parameters<typeof nameOfEarlierScan>[0]>(sql`
    insert into scan (organizer, event, id, list, position, type, successful, at, device, device_id, gate, forced,
                      force_sent, auto_checked_in, imported_id)
    select sent.organizer, sent.event, nextval('scan_id'), sent.list, sent.position, sent.type, true, sent.at, sent.device,
           sent.device_id, sent.gate, false, false, sent.auto_checked_in, sent.imported_id
      from ${rowsAs("sent", columns, scans, { isNumbered: true })}
      left join gone_list
        on gone_list.organizer = sent.organizer and gone_list.event = sent.event and gone_list.id = sent.list
     where gone_list.id is null
     order by sent.ord
        on conflict (imported_id, position, event, organizer) where imported_id is not null do nothing
    returning scan.organizer, scan.event, scan.position, scan.imported_id as "importedId"`);
  return rows.map(nameOfEarlierScan);
}

export function nameOfEarlierScan(scan: Pick<EarlierScan, "organizer" | "event" | "position" | "importedId">): string {
  return `${scan.organizer}/${scan.event}/${scan.position}/${scan.importedId}`;
}
