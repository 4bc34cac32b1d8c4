import type { Presence, ScanType } from "@tessera/admission";
import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { rowsAs } from "@tessera/kit/pg/table";
import type { NamedScan } from "../domain/annulment.ts";
import { type Bucket, bucketOf } from "../domain/bucket.ts";
import { attendeesAreErased } from "./erase-answers.ts";
import { type ListPlace, placeColumns } from "./find-places.ts";
import type { EntityKey } from "./keys.ts";
import { type PresenceKey, type PresenceRow, toPresence } from "./presences.ts";

/** A scan with a nonce on one of several lists. */
export interface ScanOfNonce extends NamedScan, ListPlace {
  readonly id: number;
  readonly type: ScanType;
}

/** Two are as good as many: a nonce names one scan. */
const most = 2;

/** Finds scans by their nonce: successful ones, or refused ones. */
export async function findScansOfNonce(
  db: Queryable,
  {
    places,
    nonce,
    deviceId,
    successful,
  }: {
    readonly places: readonly ListPlace[];
    readonly nonce: string;
    /** Only scans of this device; null: of any, and of keys. */
    readonly deviceId: number | null;
    readonly successful: boolean;
  },
): Promise<ScanOfNonce[]> {
  return db.many<ScanOfNonce>(sql`
    select scan.organizer, scan.event, scan.list, scan.id, scan.position, scan.type, scan.successful,
           scan.device_id as "deviceId", scan.at
      from ${rowsAs("asked", placeColumns, places)}
      join scan
        on scan.organizer = asked.organizer and scan.event = asked.event and scan.list = asked.list
     where scan.nonce = ${nonce}
       and ${successful ? sql`scan.successful` : sql`not scan.successful`}
       and (${deviceId}::bigint is null or scan.device_id = ${deviceId})
     order by scan.id
     limit ${most}`);
}

/** Locks a ticket against changes until the transaction ends; returns what counts it. Undefined: it is deleted. */
export async function lockTicket(tx: Tx, { organizer, event, id }: EntityKey): Promise<Bucket | null | undefined> {
  const row = await tx.maybeOne<Parameters<typeof bucketOf>[0]>(sql`
    select position.subevent, position.item, position.variation, position.counted_as as "countedAs"
      from position
     where position.organizer = ${organizer}
       and position.event = ${event}
       and position.id = ${id}
       for share`);
  return row && bucketOf(row);
}

/** Marks a successful scan as annulled; false: it did not succeed, or was annulled before. The text of an erased attendee is not stored. */
export async function markAnnulled(
  tx: Tx,
  { organizer, event, list, id }: ScanOfNonce,
  explanation: string | null,
): Promise<boolean> {
  const changed = await tx.run(sql`
    update scan
       set successful = false,
           reason = 'annulled',
           explanation = case when ${attendeesAreErased(sql`scan`)} then null else ${explanation} end,
           annulled_at = clock_timestamp()
     where scan.organizer = ${organizer}
       and scan.event = ${event}
       and scan.id = ${id}
       and scan.list = ${list}
       and scan.successful`);
  return changed > 0;
}

/** Sums the successful scans of a ticket on a list again; the caller stores it as the next version. */
export async function sumScans(
  tx: Tx,
  { organizer, event, position, list }: PresenceKey,
): Promise<Pick<Presence, "entries" | "last">> {
  const { entries, type, at } = await tx.one<{ entries: number; type: ScanType | null; at: number | null }>(sql`
    select count(*) filter (where scan.type = 'entry') as entries,
           (array_agg(scan.type order by scan.at desc, scan.id desc))[1] as type,
           max(scan.at) as at
      from scan
     where scan.position = ${position}
       and scan.list = ${list}
       and scan.event = ${event}
       and scan.organizer = ${organizer}
       and scan.successful`);
  return { entries, last: type === null || at === null ? null : { type, at } };
}

/** Locks the presence of a ticket on a list, so that scans wait; it exists where a scan succeeded. */
export async function lockPresence(
  tx: Tx,
  { organizer, event, position, list }: PresenceKey,
): Promise<Presence | undefined> {
  const row = await tx.maybeOne<PresenceRow>(sql`
    select presence.version, presence.entries, presence.last_type, presence.last_at
      from presence
     where presence.position = ${position}
       and presence.list = ${list}
       and presence.event = ${event}
       and presence.organizer = ${organizer}
       for update`);
  return row && toPresence(row);
}
