import type { Documents, ListedPosition } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { staffProfiles } from "@tessera/values";
import { holds } from "../../access/caller.ts";
import type { Access } from "../../access/may-use.ts";
import type { Clients } from "../../clients.ts";
import { invalid, notFound } from "../../http/answers.ts";
import { declareList } from "../../http/list-route.ts";
import { cursor } from "../../http/paging.ts";
import { ordering, type Values } from "../../http/parameter.ts";
import { declare, type Incoming } from "../../http/route.ts";
import { listRequirer } from "../checkin-lists/require-list.ts";
import { listedPositionExamples } from "./examples.ts";
import { expansion, printing, showsPdfData, toExpand } from "./expand.ts";
import type { ReadPdfData } from "./pdf-data.ts";
import { choosing, toFilters } from "./position-filters.ts";
import { idsOf, presentPosition, presentPositions } from "./present.ts";
import type { PrintReader } from "./print.ts";
import { positionShown } from "./schema.ts";

const anyOf = ["event.orders:read", "event.orders:checkin"] as const;
const reading: Access = { kind: "event", anyOf, profiles: staffProfiles };
const readingOne: Access = { ...reading, profiles: [] };

const query = { ...choosing, expand: expansion(), pdf_data: printing() } as const;

/** The sort keys of positions on a list. */
export const columns = [
  "order__code",
  "order__datetime",
  "positionid",
  "attendee_name",
  "last_checked_in",
  "order__email",
];

/** Positions as a list sees them: `checkinlists/{list}/positions/` and below. */
export function listedPositionRoutes({
  checkinLists,
  listedPositions,
  readPdfData,
  prints,
}: Pick<Clients, "checkinLists" | "listedPositions"> & {
  readonly readPdfData: ReadPdfData;
  readonly prints: Pick<PrintReader, "read">;
}) {
  const asked = ({ query: sent, tenant }: Incoming<Values<typeof query>, unknown>) => ({
    ignoreStatus: sent.ignore_status,
    search: sent.search,
    order: sent.order,
    filters: toFilters(sent, { gate: tenant.device?.gate ?? undefined }),
    expand: toExpand(sent.expand),
  });
  const expansionOf = async (
    request: Incoming<Values<typeof query>, unknown>,
    { documents, shown }: { readonly documents: Documents | undefined; readonly shown: readonly ListedPosition[] },
  ) => {
    const ids = shown.flatMap(({ position }) => position?.id ?? []);
    const isAsked = showsPdfData(request.query, request.tenant);
    const [pdfData, printed] = await Promise.all([
      isAsked ? readPdfData(request, ids) : undefined,
      prints.read(request, idsOf(shown)),
    ]);
    return { names: request.query.expand, documents, pdfData, prints: printed };
  };

  return {
    list: declareList({
      name: "listListedPositions",
      example: listedPositionExamples.list,
      summary: "Searches the tickets on a check-in list",
      description: "A key that may only check in gets an empty list unless it searches for three characters or more.",
      access: reading,
      query: {
        ...query,
        cursor,
        ordering: ordering(columns, "attendee_name,positionid"),
      },
      page: "One page of tickets.",
      shows: positionShown,
      missing: notFound("There is no such list or page."),
      exists: listRequirer(checkinLists),
      async find(request, page) {
        const found = await listedPositions.listPositions(
          request.inEvent({
            list: request.id("list"),
            ...asked(request),
            ...page,
            ordering: [...request.query.ordering],
            cursor: request.query.cursor,
            searchOnly: !holds(request.tenant, "event.orders:read"),
          }),
          { signal: request.signal },
        );
        const { documents, positions: shown } = found;
        const expansion = await expansionOf(request, { documents, shown });
        return { ...found, results: presentPositions(found.positions, request, expansion) };
      },
    }),

    get: declare({
      name: "getListedPosition",
      example: listedPositionExamples.get,
      summary: "Shows a ticket as a check-in list sees it",
      access: readingOne,
      query,
      answers: {
        ok: { description: "The ticket.", schema: positionShown },
        invalid,
        notFound: notFound("The list has no such ticket."),
      },
      async exists(request) {
        await listedPositions.getPosition(
          request.inEvent({ list: request.id("list"), id: request.id("id"), ignoreStatus: true }),
          { signal: request.signal },
        );
      },
      async handle(request) {
        const { position, documents } = await listedPositions.getPosition(
          request.inEvent({ list: request.id("list"), ...asked(request), id: request.id("id") }),
          { signal: request.signal },
        );
        const shown = position === undefined ? [] : [position];
        const expansion = await expansionOf(request, { documents, shown });
        return { status: "ok", body: presentPosition(position, request, expansion) };
      },
    }),
  };
}
