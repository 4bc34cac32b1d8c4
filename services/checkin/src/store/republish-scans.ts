import { toByteaArray } from "@tessera/kit/pg/binary-array";
import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { ScanType } from "../domain/presence.ts";
import type { EntityKey } from "./keys.ts";

/** A scan that a fact has told of. */
export interface ToldScan extends EntityKey {
  readonly list: number;
  readonly position: number | null;
  readonly type: ScanType;
  readonly successful: boolean;
  readonly reason: string | null;
  readonly at: number;
  /** When it came here, and was told of. */
  readonly toldAt: number;
  /** Not made here, or told of too long ago. */
  readonly isOver: boolean;
}

/** The id of the last scan that was begun. */
export async function lastScanId(db: Queryable): Promise<number> {
  const { id } = await db.one<{ id: number }>(sql`select scan_id.last_value as id from scan_id`);
  return id;
}

/** Counts the scans that came here in the last days. */
export async function countToldScans(db: Queryable, { days }: { days: number }): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from scan
     where scan.created_at >= now() - make_interval(days => ${days})
       and scan.imported_id is null`);
  return count;
}

/** Reads the scans that follow one, in the order of the primary key, up to an id. */
export async function nextToldScans(
  db: Queryable,
  page: { after: EntityKey | undefined; upTo: number; days: number; limit: number },
): Promise<ToldScan[]> {
  const { after } = page;
  return db.many<ToldScan>(sql`
    select scan.organizer, scan.event, scan.id, scan.list, scan.position, scan.type, scan.successful, scan.reason, scan.at,
           scan.created_at as "toldAt",
           scan.imported_id is not null or scan.created_at < now() - make_interval(days => ${page.days}) as "isOver"
      from scan
     where (scan.organizer, scan.event, scan.id)
           > (${after?.organizer ?? ""}, ${after?.event ?? ""}, ${after?.id ?? 0}::bigint)
       and scan.id <= ${page.upTo}
     order by scan.organizer, scan.event, scan.id
     limit ${page.limit}`);
}

/** Puts facts into the outbox that have been there before, under their ids and times. */
export async function tellAgain(
  tx: Queryable,
  topic: string,
  facts: readonly {
    readonly id: string;
    readonly key: string;
    readonly payload: Uint8Array;
    readonly headers: Readonly<Record<string, string>>;
  }[],
): Promise<void> {
  if (facts.length === 0) return;
  await tx.run(sql`
    insert into outbox (fact_id, topic, key, payload, headers)
    select fact.id, ${topic}, fact.key, fact.payload, fact.headers
      from unnest(${facts.map((fact) => fact.id)}::uuid[],
                  ${facts.map((fact) => fact.key)}::text[],
                  ${toByteaArray(facts.map((fact) => fact.payload))}::bytea[],
                  ${facts.map((fact) => JSON.stringify(fact.headers))}::jsonb[])
           with ordinality as fact (id, key, payload, headers, ord)
     order by fact.ord`);
}
