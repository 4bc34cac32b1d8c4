import type { CheckinList, GetCheckinListRequest } from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import type { TypeOf } from "@tessera/schema/schema";
import { scanProfiles } from "@tessera/values";
import type { Access } from "../../access/may-use.ts";
import type { Clients } from "../../clients.ts";
import { conflict, invalid, notFound } from "../../http/answers.ts";
import { declareList, knownAsOf } from "../../http/list-route.ts";
import { exclusion, idFilter, instantFilter, numberFilter, ordering, words } from "../../http/parameter.ts";
import { declare, type Incoming, type Reply } from "../../http/route.ts";
import { readSubevents, toExpand } from "../listed-positions/expand.ts";
import { checkinListExamples } from "./examples.ts";
import { listFields, presentList, presentStatus } from "./present.ts";
import { listBody, listInPage, listPatch, listShown, statusShown } from "./schema.ts";

const reading: Access = {
  kind: "event",
  anyOf: ["event.orders:read", "event.orders:checkin"],
  profiles: scanProfiles,
};

const readingOne: Access = { ...reading, profiles: [] };

const writing: Access = { kind: "event", anyOf: ["event.settings.general:write"], profiles: [] };

const shown = (description: string) => ({ description, schema: listShown });
const missing = notFound("The event has no such list.");

/** Fields that a client may exclude from the answer. */
const excludable = Object.keys(listShown.properties);

const expand = words("Shows the date of a list in full instead of its id.", ["subevent"] as const);

const expandWritten = words(
  "Shows the date of the list in full instead of its id; a date that is sent is ignored then.",
  ["subevent"] as const,
);

type SentList = TypeOf<typeof listPatch.schema>;

type Writing = Incoming<{ readonly expand: readonly "subevent"[] }, SentList>;

/** The fields to write: an expanded field is read-only (C1.6). */
function sentBy({ query, body }: Writing): SentList {
  const { subevent: _readOnly, ...others } = body;
  return query.expand.includes("subevent") ? others : body;
}

/** Lists of an event: `checkinlists/` and below. */
export function checkinListRoutes({ checkinLists }: Pick<Clients, "checkinLists">) {
  const exists = (request: Incoming) =>
    checkinLists.getCheckinList(request.inEvent({ id: request.id("id") }), { signal: request.signal });

  const add = (request: Writing) =>
    checkinLists.createCheckinList(request.inEvent({}, { fields: listFields.toMessage(sentBy(request)) }));

  const change = (request: Writing) => {
    const sent = sentBy(request);
    return checkinLists.updateCheckinList(
      request.inEvent(
        { id: request.id("id") },
        { fields: listFields.toMessage(sent), updateMask: listFields.namesIn(sent) },
      ),
    );
  };

  const present = async (request: Writing, list: CheckinList | undefined) => {
    const expanded = toExpand(request.query.expand);
    if (list === undefined || expanded === undefined) return presentList(list);
    const asked = request.inEvent<GetCheckinListRequest>({ id: list.id, expand: expanded });
    // The list is stored: if its date cannot be shown, its id is.
    const { documents } = await checkinLists.getCheckinList(asked).catch(() => ({ documents: undefined }));
    return presentList(list, readSubevents(documents, request));
  };

  const update = async (request: Writing): Promise<Reply> => {
    const { list } = await change(request);
    return { status: "ok", body: await present(request, list) };
  };

  return {
    list: declareList({
      name: "listCheckinLists",
      example: checkinListExamples.list,
      summary: "Lists the check-in lists of an event",
      access: reading,
      query: {
        ordering: ordering(["id", "name", "subevent__date_from"], "subevent__date_from,name"),
        subevent: idFilter("Only lists of this date."),
        subevent_match: numberFilter("Lists of this date and those of all dates."),
        ends_after: instantFilter("Leaves out lists whose date has ended by then."),
        exclude: exclusion("Leaves a field out of the answer; without both counts, nothing is counted.", excludable),
        expand,
      },
      page: "One page of lists.",
      shows: listInPage,
      conditional: {
        unchanged: "No list was created, changed or deleted since `If-Modified-Since`. Scans are no changes.",
        changed: "A check-in list of this event has changed since then.",
      },
      async find(request, page) {
        const { query, signal } = request;
        // Changes of dates are not changes of lists, so such an answer has no time of last change.
        const dependsOnDates = query.expand.includes("subevent") || query.ends_after !== undefined;
        const found = await checkinLists.listCheckinLists(
          request.inEvent({
            ...page,
            ordering: [...query.ordering],
            subevent: query.subevent,
            subeventMatch: query.subevent_match,
            endsAfter: query.ends_after,
            withCounts: !(query.exclude.includes("position_count") && query.exclude.includes("checkin_count")),
            knownAsOf: dependsOnDates ? undefined : knownAsOf(request),
            expand: toExpand(query.expand),
          }),
          { signal },
        );
        const subevents = readSubevents(found.documents, request);
        return {
          ...found,
          changedAt: dependsOnDates ? undefined : found.changedAt,
          results: found.lists.map((list) => presentList(list, subevents)),
        };
      },
    }),

    get: declare({
      name: "getCheckinList",
      example: checkinListExamples.get,
      summary: "Shows a check-in list",
      access: readingOne,
      query: { expand },
      answers: { ok: shown("The list."), notFound: missing },
      async handle(request) {
        const { list, documents } = await checkinLists.getCheckinList(
          request.inEvent({ id: request.id("id"), expand: toExpand(request.query.expand) }),
          { signal: request.signal },
        );
        return { status: "ok", body: presentList(list, readSubevents(documents, request)) };
      },
    }),

    create: declare({
      name: "createCheckinList",
      example: checkinListExamples.create,
      summary: "Creates a check-in list",
      access: writing,
      query: { expand: expandWritten },
      body: listBody,
      answers: { created: shown("The new list."), invalid, conflict },
      async handle(request) {
        const { list } = await add(request);
        return { status: "created", body: await present(request, list) };
      },
    }),

    patch: declare({
      name: "updateCheckinList",
      example: checkinListExamples.patch,
      summary: "Changes some fields of a check-in list",
      access: writing,
      query: { expand: expandWritten },
      body: listPatch,
      answers: { ok: shown("The list."), invalid, notFound: missing, conflict },
      exists,
      handle: update,
    }),

    put: declare({
      name: "replaceCheckinList",
      example: checkinListExamples.put,
      summary: "Sets all fields of a check-in list",
      description: "Fields that are left out return to their default.",
      access: writing,
      query: { expand: expandWritten },
      body: listBody,
      answers: { ok: shown("The list."), invalid, notFound: missing, conflict },
      exists,
      handle: update,
    }),

    remove: declare({
      name: "deleteCheckinList",
      example: checkinListExamples.remove,
      summary: "Deletes a check-in list and all scans made on it",
      access: writing,
      answers: { noContent: { description: "It is deleted." }, notFound: missing, conflict },
      async handle(request) {
        await checkinLists.deleteCheckinList(request.inEvent({ id: request.id("id") }));
        return { status: "noContent" };
      },
    }),

    status: declare({
      name: "getCheckinListStatus",
      example: checkinListExamples.status,
      summary: "Counts the tickets, entries and visitors inside of a check-in list",
      access: reading,
      answers: { ok: { description: "The numbers of this moment.", schema: statusShown }, notFound: missing },
      async handle(request) {
        const { signal } = request;
        const status = await checkinLists.getCheckinListStatus(request.inEvent({ id: request.id("id") }), { signal });
        return { status: "ok", body: presentStatus(status) };
      },
    }),
  };
}
