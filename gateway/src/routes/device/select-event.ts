import {
  type CatalogueDocument,
  DocumentKind,
  type ListDocumentsRequest,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/catalogue";
import type { ListCheckinListsRequest } from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import type { Clients } from "../../clients.ts";
import type { Incoming } from "../../http/route.ts";
import { amongEventsOf } from "../catalogue/among.ts";
import { presentDocument } from "../catalogue/present.ts";

/** What a device should scan now. */
export interface Selection {
  readonly event: { readonly slug: string; readonly name: unknown };
  readonly subevent: number | null;
  readonly checkinlist: number | null;
}

interface Beginning {
  readonly slug: string;
  readonly name: unknown;
  readonly date_from: string;
  readonly has_subevents: boolean;
}

interface SubeventBeginning {
  readonly id: number;
  readonly date_from: string;
}

/**
 * Finds the event or date of a device that begins first among those that have not ended, and its first check-in list. Only events
 * count whose shop is open. `at` in microseconds since 1970.
 */
export async function selectEvent(
  request: Incoming<unknown, unknown>,
  at: number,
  { catalogue, checkinLists }: Pick<Clients, "catalogue" | "checkinLists">,
): Promise<Selection | undefined> {
  const { signal, tenant, ofTenantIn } = request;
  const read = async (
    conditions: Pick<ListDocumentsRequest, "kind" | "active" | "pageSize">,
  ): Promise<CatalogueDocument[]> => {
    const asked = { among: amongEventsOf(tenant), endsAfter: at, live: true, ordering: [], page: 1 };
    const message = ofTenantIn("")<ListDocumentsRequest>({ ...asked, ...conditions });
    return (await catalogue.listDocuments(message, { signal })).documents;
  };
  const events = (await read({ kind: DocumentKind.EVENT, pageSize: 50 })).map(
    (event) => presentDocument(event) as unknown as Beginning,
  );
  const [date] = await read({ kind: DocumentKind.SUBEVENT, active: true, pageSize: 1 });
  const alone = events.find(({ has_subevents }) => !has_subevents);
  const series = events.find(({ slug }) => slug === date?.event);
  const dated = date && (presentDocument(date) as unknown as SubeventBeginning);
  const isDateFirst =
    series !== undefined &&
    dated !== undefined &&
    (alone === undefined || Date.parse(dated.date_from) < Date.parse(alone.date_from));
  const event = isDateFirst ? series : alone;
  if (event === undefined) return undefined;
  const subevent = isDateFirst ? dated.id : null;
  const { lists } = await checkinLists.listCheckinLists(
    ofTenantIn(event.slug)<ListCheckinListsRequest>({
      ...{ page: 1, pageSize: 1, ordering: [], withCounts: false },
      subeventMatch: subevent ?? undefined,
    }),
    { signal },
  );
  return { event: { slug: event.slug, name: event.name }, subevent, checkinlist: lists[0]?.id ?? null };
}
