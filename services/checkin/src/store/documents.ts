import type { Queryable } from "@tessera/kit/pg/database";
import { identifier, sql } from "@tessera/kit/pg/sql";
import type { EventKey } from "./keys.ts";

/** Reads the resources with these ids, each once, as JSON. A resource that has not arrived yet is left out. */
export async function readDocuments(
  db: Queryable,
  table: "item" | "question" | "subevent",
  { organizer, event, ids }: EventKey & { readonly ids: readonly number[] },
): Promise<{ readonly id: number; readonly json: Uint8Array }[]> {
  if (ids.length === 0) return [];
  const rows = await db.many<{ id: number; document: string }>(sql`
    select shown.id, shown.document::text as document
      from ${identifier(table)} as shown
     where shown.organizer = ${organizer}
       and shown.event = ${event}
       and shown.id = any(${[...new Set(ids)]}::bigint[])
       and shown.document <> '{}'
     order by shown.id`);
  return rows.map(({ id, document }) => ({ id, json: Buffer.from(document) }));
}
