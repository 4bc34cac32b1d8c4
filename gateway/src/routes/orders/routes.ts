import { mapInSlices } from "@tessera/kit/waiting/in-slices";
import type {
  ListOrdersRequest,
  OrderDocument,
  OrderPositionDocument,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/orders";
import type { CheckinsOfPosition } from "@tessera/protos/gen/ticketing/checkin/v1/order_checkins";
import { staffProfiles } from "@tessera/values";
import type { Access } from "../../access/may-use.ts";
import type { Clients } from "../../clients.ts";
import { fault } from "../../faults.ts";
import { conflict, invalid, notFound } from "../../http/answers.ts";
import { declareList } from "../../http/list-route.ts";
import { cursor } from "../../http/paging.ts";
import {
  exclusion,
  flag,
  flagFilter,
  idFilter,
  instantFilter,
  ordering,
  repeated,
  textFilter,
  type Values,
  wordListFilter,
} from "../../http/parameter.ts";
import { declare, type Incoming } from "../../http/route.ts";
import { onlyFields, readFields, withoutFields } from "../../http/without-fields.ts";
import { printing, showsPdfData } from "../listed-positions/expand.ts";
import type { ReadPdfData } from "../listed-positions/pdf-data.ts";
import { mostInfoBytes, type PrintReader, presentPrint, printShown } from "../listed-positions/print.ts";
import { orderExamples as examples } from "./examples.ts";
import { type Beside, presentOrder, presentOrderPosition, toPrint } from "./present.ts";
import * as shown from "./schema.ts";

const reading: Access = { kind: "event", anyOf: ["event.orders:read"], profiles: ["pretixscan"] };
const writing: Access = {
  kind: "event",
  anyOf: ["event.orders:write", "event.orders:checkin"],
  profiles: staffProfiles,
};

const positionFields = Object.keys(shown.orderPosition.properties);
const fields = [...Object.keys(shown.order.properties), ...positionFields.map((name) => `positions.${name}`)];

const shownFields = (names: readonly string[]) => ({
  include: exclusion("Shows this field and no others.", names),
  exclude: exclusion("Leaves a field out of the answer.", names),
});

const showing = {
  ...shownFields(fields),
  pdf_data: printing(),
  include_canceled_positions: flag("Also shows canceled positions."),
  include_canceled_fees: flag("Also shows canceled fees."),
};

const showingPositions = {
  ...shownFields(positionFields),
  pdf_data: printing(),
  include_canceled_positions: flag("Also canceled positions."),
};

const choosing = {
  cursor,
  ordering: ordering(["datetime", "last_modified", "code", "status"], "-datetime"),
  testmode: flagFilter("Only orders made for a test, or only others."),
  status: repeated(
    wordListFilter("Only orders of these statuses: pending, paid, expired, canceled. Others match nothing.", [
      ...(["n", "p", "e", "c"] as const),
    ]),
  ),
  code: textFilter("Only the order with this code; it may be in small letters."),
  modified_since: instantFilter(
    "Only what came or changed here, or was scanned, at this time or later. Send `X-Page-Generated` of an earlier answer.",
  ),
  created_since: instantFilter("Only orders that were placed at this time or later."),
  subevent_after: instantFilter("Only orders with a ticket for a date that begins at this time or later."),
};

/** Orders show what was said of each print. */
function refuseLongInfo({ info }: shown.PrintBody): void {
  if (Buffer.byteLength(JSON.stringify(info ?? {})) <= mostInfoBytes) return;
  const message = `Expected at most ${mostInfoBytes} bytes of JSON.`;
  throw fault("invalid_body", "some fields are not valid", { fields: { info: [message] } });
}

/** Checkin is asked for so many positions at once. */
const mostPositions = 10_000;

/** Orders and their tickets: `orders/`, `orderpositions/` and below. */
export function orderRoutes({
  orders,
  orderCheckins,
  readPdfData,
  prints,
}: Pick<Clients, "orders" | "orderCheckins"> & {
  readonly readPdfData: ReadPdfData;
  readonly prints: Pick<PrintReader, "note">;
}) {
  type Asking = Incoming<Pick<Values<typeof showing>, "pdf_data">>;

  async function findBeside(request: Asking, ids: readonly number[]): Promise<Beside> {
    const checkins = new Map<number, CheckinsOfPosition>();
    for (let at = 0; at < ids.length; at += mostPositions) {
      const part = ids.slice(at, at + mostPositions);
      const found = await orderCheckins.findCheckins(request.inEvent({ positions: part }), { signal: request.signal });
      for (const each of found.positions) checkins.set(each.position, each);
    }
    const pdfData = showsPdfData(request.query, request.tenant) ? await readPdfData(request, ids) : undefined;
    return { address: request, checkins, pdfData };
  }

  async function presentOrders(request: Incoming<Values<typeof showing>>, found: readonly OrderDocument[]) {
    const ids = found.flatMap(({ positions }) => positions.flatMap(({ position }) => position?.id ?? []));
    const beside = await findBeside(request, ids);
    const included = readFields(request.query.include);
    return mapInSlices(found, (order) => onlyFields(presentOrder(order, beside), included));
  }

  async function presentPositions(
    request: Incoming<Values<typeof showingPositions>>,
    found: readonly OrderPositionDocument[],
  ) {
    const ids = found.flatMap(({ position }) => position?.position?.id ?? []);
    const beside = await findBeside(request, ids);
    const included = readFields(request.query.include);
    return mapInSlices(found, (position) => onlyFields(presentOrderPosition(position, beside), included));
  }

  const canceledOf = ({ query }: Incoming<Values<typeof showing>>) => ({
    positions: query.include_canceled_positions,
    fees: query.include_canceled_fees,
  });

  /**
   * What has changed since a time: orders that boxoffice changed, and those of tickets that were scanned. If very many were, all
   * orders are told: to find these would cost more than to read them, and a client may get an order again.
   *
   * A scan that is stored between the two calls is in the next answer: checkin looks back by more than a call takes.
   */
  async function findChanges(
    request: Incoming<Values<typeof choosing>>,
  ): Promise<Pick<ListOrdersRequest, "changedSince" | "orOfPositions">> {
    const { modified_since: since } = request.query;
    if (since === undefined) return { changedSince: undefined, orOfPositions: [] };
    const scanned = await orderCheckins.findScannedSince(request.inEvent({ since }), { signal: request.signal });
    return { changedSince: scanned.tooMany ? undefined : since, orOfPositions: scanned.positions };
  }

  return {
    list: declareList({
      name: "listOrders",
      example: examples.list,
      summary: "Lists the orders of an event with their tickets",
      description:
        "Scanners read all orders once, and then what has changed: `modified_since` with `X-Page-Generated` of the first page. Pages of large orders are shorter.",
      access: reading,
      query: { ...choosing, ...showing },
      page: "One page of orders. `count` is that of the first page.",
      shows: shown.order,
      isGenerated: true,
      async find(request, page) {
        const { query, signal } = request;
        const changes = await findChanges(request);
        const found = await orders.listOrders(
          request.inEvent({
            ...page,
            ...changes,
            ordering: [...query.ordering],
            cursor: query.cursor,
            testmode: query.testmode,
            statuses: query.status && { letters: [...query.status] },
            code: query.code,
            placedSince: query.created_since,
            beginsSince: query.subevent_after,
            canceled: canceledOf(request),
          }),
          { signal },
        );
        return { ...found, results: await presentOrders(request, found.orders) };
      },
    }),

    get: declare({
      name: "getOrder",
      example: examples.get,
      summary: "Shows an order with its tickets",
      access: reading,
      query: showing,
      answers: {
        ok: { description: "The order.", schema: shown.order },
        notFound: notFound("The event has no such order."),
      },
      async handle(request) {
        const { order } = await orders.getOrder(
          request.inEvent({ code: request.param("code"), canceled: canceledOf(request) }),
          { signal: request.signal },
        );
        const [body = {}] = await presentOrders(request, order === undefined ? [] : [order]);
        return { status: "ok", body: withoutFields(body, readFields(request.query.exclude)) };
      },
    }),

    positions: declareList({
      name: "listOrderPositions",
      example: examples.positions,
      summary: "Lists the tickets of all orders of an event",
      access: reading,
      query: {
        cursor,
        ...showingPositions,
        order: textFilter("Only tickets of the order with this code; it may be in small letters."),
        secret: textFilter("The secret of the ticket."),
        item: idFilter("Only tickets of this item."),
        subevent: idFilter("Only tickets for this date."),
      },
      page: "One page of tickets, by their ids; a shorter one where these are large.",
      shows: shown.orderPosition,
      async find(request, page) {
        const { query, signal } = request;
        const found = await orders.listOrderPositions(
          request.inEvent({
            ...page,
            cursor: query.cursor,
            order: query.order,
            secret: query.secret,
            item: query.item,
            subevent: query.subevent,
            withCanceled: query.include_canceled_positions,
          }),
          { signal },
        );
        return { ...found, results: await presentPositions(request, found.positions) };
      },
    }),

    position: declare({
      name: "getOrderPosition",
      example: examples.position,
      summary: "Shows a ticket",
      access: reading,
      query: showingPositions,
      answers: {
        ok: { description: "The ticket.", schema: shown.orderPosition },
        notFound: notFound("The event has no such ticket."),
      },
      async handle(request) {
        const { position } = await orders.getOrderPosition(
          request.inEvent({ id: request.id("id"), withCanceled: request.query.include_canceled_positions }),
          { signal: request.signal },
        );
        const [body = {}] = await presentPositions(request, position === undefined ? [] : [position]);
        return { status: "ok", body: withoutFields(body, readFields(request.query.exclude)) };
      },
    }),

    print: declare({
      name: "createPrint",
      example: examples.print,
      summary: "Stores that something was printed for a ticket",
      description: "Badges and tickets that devices print. It changes nothing about the ticket.",
      access: writing,
      body: shown.printBody,
      answers: {
        created: { description: "It is stored.", schema: printShown },
        invalid,
        notFound: notFound("The event has no such ticket."),
        conflict,
      },
      async exists(request) {
        await orders.getOrderPosition(request.inEvent({ id: request.id("id"), withCanceled: true }), {
          signal: request.signal,
        });
      },
      async handle(request) {
        refuseLongInfo(request.body);
        const { print } = await orders.recordPrint(
          request.inEvent(
            { position: request.id("id") },
            { print: toPrint(request.body, request.tenant.device?.deviceId) },
          ),
        );
        prints.note(request);
        return { status: "created", body: presentPrint(print) };
      },
    }),
  };
}
