import { holds } from "../../access/caller.ts";
import { invalid, notFound } from "../../answers.ts";
import type { Clients } from "../../clients.ts";
import { pageOf, paging, toPage } from "../../paging.ts";
import { flag, ordering, textFilter, words } from "../../parameter.ts";
import { type Access, declare, type Incoming } from "../../route.ts";
import { presentPosition } from "./present.ts";
import { positionShown } from "./schema.ts";

const anyOf = ["event.orders:read", "event.orders:checkin"] as const;
const reading: Access = { kind: "event", anyOf, profiles: ["pretixscan", "pretixscan_online_noorders"] };
const readingOne: Access = { ...reading, profiles: [] };

const universe = {
  ignore_status: flag("Also shows tickets whose order has a status that is not on the list."),
  expand: words("Nothing to expand yet.", []),
} as const;

const columns = ["order__code", "order__datetime", "positionid", "attendee_name", "last_checked_in", "order__email"];

type Anything = Incoming<unknown, unknown>;

/** Positions as a list sees them: `checkinlists/{list}/positions/` and below. */
export function listedPositionRoutes({
  checkinLists,
  listedPositions,
}: Pick<Clients, "checkinLists" | "listedPositions">) {
  const onList = (request: Anything) => ({
    organizer: request.organizer,
    event: request.event,
    list: request.id("list"),
  });
  const placeOf = ({ url, organizer, event }: Anything) => ({ base: url.base, organizer, event });

  return {
    list: declare({
      name: "listListedPositions",
      summary: "Searches the tickets on a check-in list",
      description: "A key that may only check in gets an empty list unless it searches for three characters or more.",
      access: reading,
      query: {
        ...paging,
        ...universe,
        ordering: ordering(columns, "attendee_name,positionid"),
        search: textFilter("In names, e-mail addresses and company; the beginning of secret and order code."),
        order: textFilter("Only tickets of the order with this code, in any letter case."),
      },
      answers: {
        200: { description: "One page of tickets.", schema: pageOf(positionShown) },
        400: invalid,
        404: notFound("There is no such list or page."),
      },
      async exists(request) {
        const { list: id, ...event } = onList(request);
        await checkinLists.getCheckinList({ ...event, id }, { signal: request.signal });
      },
      async handle(request) {
        const { page, page_size: pageSize, ignore_status: ignoreStatus, ordering: order, ...filters } = request.query;
        const found = await listedPositions.listPositions(
          {
            ...onList(request),
            page,
            pageSize,
            ordering: [...order],
            search: filters.search,
            order: filters.order,
            ignoreStatus,
            searchOnly: !holds(request.tenant, "event.orders:read"),
          },
          { signal: request.signal },
        );
        const results = found.positions.map((position) => presentPosition(position, placeOf(request)));
        return { status: 200, body: toPage(request.url, { count: found.count, page: found.page, pageSize, results }) };
      },
    }),

    get: declare({
      name: "getListedPosition",
      summary: "Shows a ticket as a check-in list sees it",
      access: readingOne,
      query: universe,
      answers: {
        200: { description: "The ticket.", schema: positionShown },
        404: notFound("The list has no such ticket."),
      },
      async handle(request) {
        const { position } = await listedPositions.getPosition(
          { ...onList(request), id: request.id("id"), ignoreStatus: request.query.ignore_status },
          { signal: request.signal },
        );
        return { status: 200, body: presentPosition(position, placeOf(request)) };
      },
    }),
  };
}
