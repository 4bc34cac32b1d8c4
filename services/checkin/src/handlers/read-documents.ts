import type { Queryable } from "@tessera/kit/pg/database";
import type { Document } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { type DocumentTable, findDocuments } from "../store/documents.ts";
import type { EventKey } from "../store/keys.ts";

/** Reads the resources that ids stand for, each once. */
export async function readDocuments(
  db: Queryable,
  table: DocumentTable,
  { organizer, event, ids }: EventKey & { readonly ids: readonly number[] },
): Promise<Document[]> {
  const found = await findDocuments(db, table, { organizer, event, ids: [...new Set(ids)] });
  return found.map(({ id, document }) => ({ id, json: Buffer.from(document) }));
}
