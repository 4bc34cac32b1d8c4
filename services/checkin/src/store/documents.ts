import type { Queryable } from "@tessera/kit/pg/database";
import { identifier, sql } from "@tessera/kit/pg/sql";
import type { EventKey } from "./keys.ts";

/** A table whose rows hold resources. */
export type DocumentTable = "item" | "question" | "subevent";

/** A resource as the API shows it. */
export interface StoredDocument {
  readonly id: number;
  /** JSON. */
  readonly document: string;
}

/** Reads the resources that these ids stand for. Of what came before its resource was kept there is none yet. */
export async function findDocuments(
  db: Queryable,
  table: DocumentTable,
  { organizer, event, ids }: EventKey & { readonly ids: readonly number[] },
): Promise<StoredDocument[]> {
  if (ids.length === 0) return [];
  return db.many<StoredDocument>(sql`
    select shown.id, shown.document::text as document
      from ${identifier(table)} as shown
     where shown.organizer = ${organizer}
       and shown.event = ${event}
       and shown.id = any(${ids}::bigint[])
       and shown.document <> '{}'
     order by shown.id`);
}
