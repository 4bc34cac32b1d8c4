import { cutPage, fitPage, followPage } from "@tessera/kit/lists/cut-page";
import { refuseFilters } from "@tessera/kit/lists/refuse-filters";
import type { Queryable } from "@tessera/kit/pg/database";
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
  lacksOne,
  pageDocuments,
  readAsOf,
  type StoredDocument,
} from "../store/documents.ts";
import { toQuotaAvailability } from "../wire/capacity-messages.ts";
import { readAvailability } from "./quota-room.ts";

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
  [Asked.QUOTA, "quota"],
]);

/** Pages through the documents of one kind. */
export async function listDocuments(
  request: ListDocumentsRequest,
  { reads }: { readonly reads: Reads },
): Promise<ListDocumentsResponse> {
  const kind = kindOf(request.kind);
  return reads.inTurn(request.organizer, async (db) => {
    const { among, items, ordering, knownAsOf } = request;
    await refuseUnknown(db, request);
    const filter = { ...request, among: among?.slugs, items: items?.ids };
    const asOf = await readAsOf(db, kind, filter);
    const changedAt =
      tellsChanges(kind) && request.event !== "" ? await findDocumentsChanged(db, kind, request) : undefined;
    if (changedAt !== undefined && knownAsOf !== undefined && changedAt <= knownAsOf) {
      return { documents: [], count: 0, page: 0, asOf, changedAt, isUnchanged: true };
    }
    const count = await countDocuments(db, kind, filter);
    const cut = cutPage(request, count);
    const found = await pageDocuments(db, kind, { ...filter, ordering, limit: cut.limit, offset: cut.offset });
    const fitting = fitPage(found, ({ json }) => Buffer.byteLength(json));
    const documents =
      request.withAvailability === true ? await addAvailability(db, request, fitting) : fitting.map(toDocument);
    const next = followPage(cut, { shown: fitting.length, isShort: fitting.length < found.length, count });
    return { documents, count, page: cut.page, asOf, changedAt, isUnchanged: false, next };
  });
}

export async function getDocument(
  { organizer, event, kind: asked, id, withAvailability }: GetDocumentRequest,
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
    if (withAvailability !== true) return { document: toDocument(document) };
    const [shown] = await addAvailability(db, { organizer, event }, [document]);
    return { document: shown };
  });
}

/** Throws for a filter that names what the event does not have. */
async function refuseUnknown(
  db: Queryable,
  {
    organizer,
    event,
    subevent,
    items = { ids: [] },
  }: Pick<ListDocumentsRequest, "organizer" | "event" | "subevent" | "items">,
): Promise<void> {
  const dates = subevent === undefined ? [] : [subevent];
  refuseFilters([
    ...((await lacksOne(db, "subevent", { organizer, event, ids: dates })) ? ["subevent"] : []),
    ...((await lacksOne(db, "item", { organizer, event, ids: items.ids })) ? ["items__in"] : []),
  ]);
}

/** Adds to documents of quotas what is left of each: the numbers by which tickets are sold. */
async function addAvailability(
  db: Queryable,
  { organizer, event }: Pick<ListDocumentsRequest, "organizer" | "event">,
  quotas: readonly StoredDocument[],
): Promise<CatalogueDocument[]> {
  const ids = quotas.map(({ json }) => (JSON.parse(json) as { readonly id: number }).id);
  const availability = await readAvailability(db, { organizer, event }, ids);
  return quotas.map((quota, index) => {
    const found = availability.get(ids[index] ?? 0);
    return { ...toDocument(quota), availability: found && toQuotaAvailability(found) };
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
