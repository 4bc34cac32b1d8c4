import type { ScanType } from "@tessera/admission";
import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { EntityKey } from "./keys.ts";

export interface PublishedScan extends EntityKey {
  readonly list: number;
  readonly position: number | null;
  readonly type: ScanType;
  readonly successful: boolean;
  readonly reason: string | null;
  readonly at: number;
  readonly overruled: string | null;
  readonly isOutOfOrder: boolean;
  /** When the scan was stored here, and published. */
  readonly publishedAt: number;
  /** The scan was not made here, or was published too long ago. */
  readonly isOver: boolean;
}

/** The id of the last scan that was begun. */
export async function lastScanId(db: Queryable): Promise<number> {
  const { id } = await db.one<{ id: number }>(sql`select scan_id.last_value as id from scan_id`);
  return id;
}

/** Counts the scans that were stored here in the last days. */
export async function countPublishedScans(db: Queryable, { days }: { days: number }): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from scan
     where scan.created_at >= now() - make_interval(days => ${days})
       and scan.imported_id is null`);
  return count;
}

/** Reads the next scans after a scan, in the order of the primary key, up to an id. */
export async function nextPublishedScans(
  db: Queryable,
  page: { after: EntityKey | undefined; upTo: number; days: number; limit: number },
): Promise<PublishedScan[]> {
  const { after } = page;
  return db.many<PublishedScan>(sql`
    select scan.organizer, scan.event, scan.id, scan.list, scan.position, scan.type, scan.successful, scan.reason, scan.at,
           scan.overruled, scan.out_of_order as "isOutOfOrder", scan.created_at as "publishedAt",
           scan.imported_id is not null or scan.created_at < now() - make_interval(days => ${page.days}) as "isOver"
      from scan
     where (scan.organizer, scan.event, scan.id)
           > (${after?.organizer ?? ""}, ${after?.event ?? ""}, ${after?.id ?? 0}::bigint)
       and scan.id <= ${page.upTo}
     order by scan.organizer, scan.event, scan.id
     limit ${page.limit}`);
}
