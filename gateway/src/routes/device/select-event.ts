import { DocumentKind, type ListDocumentsRequest } from "@tessera/protos/gen/ticketing/boxoffice/v1/catalogue";
import type { ListCheckinListsRequest } from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import type { Clients } from "../../clients.ts";
import type { Incoming } from "../../http/route.ts";

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
  const { signal, tenant, ofTenantInAnyEvent, ofTenantIn } = request;
  const among = tenant.events === undefined ? undefined : { slugs: [...tenant.events] };
  const read = async (kind: DocumentKind, conditions: Pick<ListDocumentsRequest, "active">) => {
    const { documents } = await catalogue.listDocuments(
      ofTenantInAnyEvent<ListDocumentsRequest>({
        ...{ kind, among, endsAfter: at, live: true, ordering: [], page: 1, pageSize: 50 },
        ...conditions,
      }),
      { signal },
    );
    return documents.map(({ event, json }) => ({
      slug: event,
      document: JSON.parse(Buffer.from(json).toString()) as unknown,
    }));
  };
  const events = (await read(DocumentKind.EVENT, {})).map(({ document }) => document as Beginning);
  const [date] = await read(DocumentKind.SUBEVENT, { active: true });
  const alone = events.find(({ has_subevents }) => !has_subevents);
  const series = events.find(({ slug }) => slug === date?.slug);
  const dated = date?.document as SubeventBeginning | undefined;
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
