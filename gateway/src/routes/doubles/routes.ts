import type { DoubleFilter, DoublesAt } from "@tessera/protos/gen/ticketing/checkin/v1/doubles";
import type { Access } from "../../access/may-use.ts";
import type { Clients } from "../../clients.ts";
import { invalid, notFound } from "../../http/answers.ts";
import { declareList } from "../../http/list-route.ts";
import {
  choiceFilter,
  flagFilter,
  idFilter,
  instantFilter,
  numberFilter,
  ordering,
  type Values,
} from "../../http/parameter.ts";
import { declare, type Incoming } from "../../http/route.ts";
import { doubleExamples } from "./examples.ts";
import { columnNames, presentDouble, presentRow } from "./present.ts";
import { doubleCountsShown, doubleReasons, doubleShown, explainBody } from "./schema.ts";

const reading: Access = { kind: "event", anyOf: ["event.orders:read"], profiles: [] };
const writing: Access = { kind: "event", anyOf: ["event.orders:write"], profiles: [] };

const filters = {
  list: idFilter("Only those on this list."),
  position: idFilter("Only those of this ticket."),
  // Gates and devices belong to the organizer; the ids are compared without a lookup (see ListScans).
  device: numberFilter("Only those with a scan of this device, by its internal id."),
  gate: numberFilter("Only those with a scan at this gate, by its id."),
  reason: choiceFilter("Only those with this reason.", doubleReasons),
  explained: flagFilter("Only explained ones, or only the others."),
  created_since: instantFilter("The last of the scans came here at this time or later."),
  created_before: instantFilter("The last of the scans came here before this time."),
  datetime_since: instantFilter("The later scan was made at this time or later."),
  datetime_before: instantFilter("The later scan was made before this time."),
};

const missing = notFound("The event has no such double.");

/** The ledger of doubles of an event: `doubles/` and below. */
export function doubleRoutes({ doubles }: Pick<Clients, "doubles">) {
  const find = (request: Incoming) =>
    doubles.getDouble(request.inEvent({ id: request.id("id") }), { signal: request.signal });

  return {
    list: declareList({
      name: "listDoubles",
      example: doubleExamples.list,
      summary: "Lists the doubles of an event",
      description:
        "A double is an entry whose gate could not know of an earlier entry of the same ticket, because one of the two had no network; or an entry that a device forced without a network though the ticket was not to be admitted. The list is derived from the scans, so a late exit or an annulment changes it. The table is in the order of the tickets.",
      access: reading,
      query: { ordering: ordering(["created", "datetime", "id"], "created,id"), ...filters },
      page: "One page of doubles.",
      shows: doubleShown,
      async find({ inEvent, query, signal }, page) {
        const asked = { ...page, ordering: [...query.ordering], filter: toFilter(query) };
        const found = await doubles.listDoubles(inEvent(asked), { signal });
        return { ...found, results: found.doubles.map(presentDouble) };
      },
      table: {
        name: "doubles.csv",
        columns: columnNames,
        async open({ inEvent, query, signal }) {
          const filter = toFilter(query);
          const first = await doubles.nextDoubles(inEvent({ filter }), { signal });
          return (async function* () {
            for (let part = first; ; ) {
              yield part.doubles.map(presentRow);
              if (part.next === undefined) return;
              part = await doubles.nextDoubles(inEvent({ filter, after: part.next }), { signal });
            }
          })();
        },
      },
    }),

    counts: declare({
      name: "countDoubles",
      example: doubleExamples.counts,
      summary: "Counts the doubles of an event, and those of each device and gate",
      description: "A double counts at the devices and gates of both of its scans, once at each; most first.",
      access: reading,
      query: filters,
      answers: { ok: { description: "The counts.", schema: doubleCountsShown }, invalid },
      async handle({ inEvent, query, signal }) {
        const found = await doubles.countDoubles(inEvent({ filter: toFilter(query) }), { signal });
        const { count, explained } = found;
        return {
          status: "ok",
          body: {
            ...{ count, explained },
            devices: found.devices.map((each) => ({ device: each.id ?? null, ...tally(each) })),
            gates: found.gates.map((each) => ({ gate: each.id ?? null, ...tally(each) })),
          },
        };
      },
    }),

    get: declare({
      name: "getDouble",
      example: doubleExamples.get,
      summary: "Shows a double",
      access: reading,
      answers: { ok: { description: "The double.", schema: doubleShown }, notFound: missing },
      async handle(request) {
        const { double } = await find(request);
        return { status: "ok", body: presentDouble(double) };
      },
    }),

    explain: declare({
      name: "explainDouble",
      example: doubleExamples.explain,
      summary: "Notes what somebody found out about a double",
      access: writing,
      exists: find,
      body: explainBody,
      answers: { ok: { description: "The double.", schema: doubleShown }, invalid, notFound: missing },
      async handle(request) {
        const { double } = await doubles.explainDouble(
          request.inEvent({ id: request.id("id"), by: request.tenant.name }, { text: request.body.explained }),
        );
        return { status: "ok", body: presentDouble(double) };
      },
    }),
  };
}

type FilterValues = Values<typeof filters>;

function toFilter(query: FilterValues): DoubleFilter {
  return {
    list: query.list,
    position: query.position,
    device: query.device,
    gate: query.gate,
    reason: query.reason,
    explained: query.explained,
    createdSince: query.created_since,
    createdBefore: query.created_before,
    atSince: query.datetime_since,
    atBefore: query.datetime_before,
  };
}

function tally({ count, explained }: DoublesAt) {
  return { count, explained };
}
