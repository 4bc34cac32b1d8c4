import { Fault } from "@tessera/kit/fault";
import type { ListPositionsRequest } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { staffProfiles } from "@tessera/values";
import { holds } from "../../access/caller.ts";
import type { Clients } from "../../clients.ts";
import { fault } from "../../faults.ts";
import { declareList } from "../../http/list-route.ts";
import { idsFilter, ordering } from "../../http/parameter.ts";
import { amongEventsOf } from "../catalogue/among.ts";
import { mostLists } from "../redeem/schema.ts";
import { searchExample } from "./examples.ts";
import { expansion, toExpand } from "./expand.ts";
import { choosing, toFilters } from "./position-filters.ts";
import { idsOf, presentPositions } from "./present.ts";
import type { PrintReader } from "./print.ts";
import { columns } from "./routes.ts";
import { positionShown } from "./schema.ts";

/** The search of scanners on lists of several events: `checkinrpc/search/`. */
export function searchRoutes({
  listedPositions,
  prints,
}: Pick<Clients, "listedPositions"> & { readonly prints: Pick<PrintReader, "read"> }) {
  return {
    search: declareList({
      name: "searchOnLists",
      example: searchExample,
      summary: "Searches the tickets on check-in lists of several events",
      description:
        "The tickets on the first list come first. A key that may only check in gets an empty list unless it searches for three characters or more.",
      access: { kind: "member", anyOf: ["event.orders:read", "event.orders:checkin"], profiles: staffProfiles },
      query: {
        list: idsFilter("The id of a check-in list; each is of another event.", { most: mostLists }),
        ...choosing,
        expand: expansion(),
        ordering: ordering(columns, "attendee_name,positionid"),
      },
      page: "One page of tickets.",
      shows: positionShown,
      async find({ query, tenant, url, organizer, signal, inAnyEvent, ofTenantIn }, page) {
        const { found, ...counts } = await listedPositions
          .searchPositions(
            {
              asked: inAnyEvent<ListPositionsRequest>({
                ...page,
                list: 0,
                ignoreStatus: query.ignore_status,
                search: query.search,
                order: query.order,
                filters: toFilters(query, { gate: tenant.device?.gate ?? undefined }),
                expand: toExpand(query.expand),
                ordering: [...query.ordering],
                searchOnly: !holds(tenant, "event.orders:read"),
              }),
              lists: [...query.list],
              among: amongEventsOf(tenant),
            },
            { signal },
          )
          .catch((error: unknown) => {
            throw error instanceof Fault && error.code === "unknown_lists" ? notYours(error.message) : error;
          });
        const results = found.map(async ({ event, positions, documents }) => {
          const place = { organizer, event, url, inEvent: ofTenantIn(event) };
          const printed = await prints.read(place, idsOf(positions));
          const expansion = { names: query.expand, documents, pdfData: undefined, prints: printed };
          return presentPositions(positions, place, expansion);
        });
        return { ...counts, results: (await Promise.all(results)).flat() };
      },
    }),
  };
}

function notYours(message: string): Fault {
  return fault("forbidden", message);
}
