import { cutPage } from "@tessera/kit/lists/cut-page";
import type { Reads } from "@tessera/kit/pg/reads";
import {
  DocumentKind as Asked,
  type CatalogueDocument,
  type GetDocumentRequest,
  type GetDocumentResponse,
  type ListDocumentsRequest,
  type ListDocumentsResponse,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/catalogue";
import type { DocumentKind } from "../domain/document-kind.ts";
import { fault } from "../faults.ts";
import { defaultSettings } from "../records/event-settings.ts";
import { findDocumentsChanged, tellsChanges } from "../store/document-changes.ts";
import {
  countDocuments,
  findDocument,
  findSettings,
  pageDocuments,
  readAsOf,
  type StoredDocument,
} from "../store/documents.ts";

const kinds: ReadonlyMap<Asked, DocumentKind> = new Map([
  [Asked.EVENT, "event"],
  [Asked.SUBEVENT, "subevent"],
  [Asked.CATEGORY, "category"],
  [Asked.ITEM, "item"],
  [Asked.QUESTION, "question"],
  [Asked.REVOKED_SECRET, "revoked_secret"],
  [Asked.BLOCKED_SECRET, "blocked_secret"],
  [Asked.REUSABLE_MEDIUM, "reusable_medium"],
  [Asked.GATE, "gate"],
]);

/** Pages through the documents of one kind. */
export async function listDocuments(
  { kind: asked, among, ordering, page: number, pageSize, knownAsOf, ...request }: ListDocumentsRequest,
  { reads }: { readonly reads: Reads },
): Promise<ListDocumentsResponse> {
  const kind = kindOf(asked);
  return reads.inTurn(request.organizer, async (db) => {
    const filter = { ...request, among: among?.slugs };
    const asOf = await readAsOf(db, kind, filter);
    const changedAt =
      tellsChanges(kind) && request.event !== "" ? await findDocumentsChanged(db, kind, request) : undefined;
    if (changedAt !== undefined && knownAsOf !== undefined && changedAt <= knownAsOf) {
      return { documents: [], count: 0, page: 0, asOf, changedAt, isUnchanged: true };
    }
    const count = await countDocuments(db, kind, filter);
    const { page, limit, offset } = cutPage({ page: number, pageSize }, count);
    const documents = await pageDocuments(db, kind, { ...filter, ordering, limit, offset });
    return { documents: documents.map(toDocument), count, page, asOf, changedAt, isUnchanged: false };
  });
}

export async function getDocument(
  { organizer, event, kind: asked, id }: GetDocumentRequest,
  { reads }: { readonly reads: Reads },
): Promise<GetDocumentResponse> {
  return reads.inTurn(organizer, async (db) => {
    if (asked === Asked.EVENT_SETTINGS) {
      const settings = await findSettings(db, { organizer, event });
      if (settings === undefined) throw missing();
      const all = { ...defaultSettings.data, ...(JSON.parse(settings.json) as object) };
      return { document: toDocument({ event, json: JSON.stringify(all) }) };
    }
    const document = await findDocument(db, kindOf(asked), { organizer, event, id });
    if (document === undefined) throw missing();
    return { document: toDocument(document) };
  });
}

function kindOf(asked: Asked): DocumentKind {
  const kind = kinds.get(asked);
  if (kind === undefined) throw new Error(`there are no documents of the kind ${asked}`);
  return kind;
}

function toDocument({ event, json }: StoredDocument): CatalogueDocument {
  return { event, json: Buffer.from(json) };
}

function missing() {
  return fault("document_not_found", "Not found.");
}
