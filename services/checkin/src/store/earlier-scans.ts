import type { Queryable } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import type { ScanType } from "../domain/presence.ts";
import type { PresenceKey } from "./presences.ts";

/** A successful scan that was made elsewhere. */
export interface EarlierScan extends PresenceKey {
  /** Its id there; of its position's scans, no other has it. */
  readonly importedId: number;
  readonly type: ScanType;
  readonly at: number;
  readonly gate: number | null;
  readonly device: number | null;
  readonly deviceId: number | null;
  readonly autoCheckedIn: boolean;
}

/** Adds scans to the history; tells which of them were not there yet, by index. */
export async function addEarlierScans(tx: Queryable, scans: readonly EarlierScan[]): Promise<Set<number>> {
  if (scans.length === 0) return new Set();
  const rows = await tx.many<{ organizer: string; event: string; position: number; imported_id: number }>(sql`
    insert into scan (organizer, event, id, list, position, type, successful, at, device, device_id, gate, forced,
                      force_sent, auto_checked_in, imported_id)
    select sent.organizer, sent.event, nextval('scan_id'), sent.list, sent.position, sent.type, true, sent.at, sent.device,
           sent.device_id, sent.gate, false, false, sent.auto_checked_in, sent.imported_id
      from unnest(${scans.map((scan) => scan.organizer)}::text[],
                  ${scans.map((scan) => scan.event)}::text[],
                  ${scans.map((scan) => scan.list)}::bigint[],
                  ${scans.map((scan) => scan.position)}::bigint[],
                  ${scans.map((scan) => scan.type)}::text[],
                  ${scans.map((scan) => toTimestamp(scan.at))}::timestamptz[],
                  ${scans.map((scan) => scan.device)}::bigint[],
                  ${scans.map((scan) => scan.deviceId)}::bigint[],
                  ${scans.map((scan) => scan.gate)}::bigint[],
                  ${scans.map((scan) => scan.autoCheckedIn)}::boolean[],
                  ${scans.map((scan) => scan.importedId)}::bigint[])
           with ordinality
           as sent (organizer, event, list, position, type, at, device, device_id, gate, auto_checked_in, imported_id, ord)
     order by sent.ord
        on conflict (imported_id, position, event, organizer) where imported_id is not null do nothing
    returning scan.organizer, scan.event, scan.position, scan.imported_id`);
  const added = new Set(rows.map((row) => nameOfEarlierScan({ ...row, importedId: row.imported_id })));
  return new Set(scans.flatMap((scan, index) => (added.has(nameOfEarlierScan(scan)) ? [index] : [])));
}

/** What tells scans made elsewhere apart. */
export function nameOfEarlierScan(scan: Pick<EarlierScan, "organizer" | "event" | "position" | "importedId">): string {
  return `${scan.organizer}/${scan.event}/${scan.position}/${scan.importedId}`;
}
