import type { LayoutFields } from "@tessera/protos/gen/ticketing/layout/v1/layouts";
import type { TypeOf } from "@tessera/schema/schema";
import type { Access } from "../../access/may-use.ts";
import type { Clients } from "../../clients.ts";
import { conflict, invalid, notFound } from "../../http/answers.ts";
import { replyJson } from "../../http/json-text.ts";
import { declareList } from "../../http/list-route.ts";
import { declare, type Incoming } from "../../http/route.ts";
import { ticketLayoutExamples } from "./examples.ts";
import { type FindUploads, findBackground } from "./find-background.ts";
import { presentAssignment, presentLayout } from "./present.ts";
import {
  assignmentShown,
  assignmentsBody,
  invalidAssignments,
  layoutBody,
  layoutPatch,
  layoutShown,
  type SentAssignment,
} from "./schema.ts";

const reading: Access = { kind: "event", anyOf: [], profiles: [] };

const writing: Access = { kind: "event", anyOf: ["event.settings.general:write"], profiles: [] };

/** Enough to copy a background of 10 MiB. */
const savingMs = 20_000;

const shown = (description: string) => ({ description, schema: layoutShown });
const missing = notFound("The event has no such layout.");

type SentLayout = TypeOf<typeof layoutPatch.schema>;

/** Names of fields in the messages of services. */
const fieldNames = { name: "name", default: "is_default", layout: "elements", background: "background" } as const;

/** Layouts of an event and their assignments: `ticketlayouts/`, `ticketlayoutitems/` and below. */
export function ticketLayoutRoutes({
  layouts,
  findUploads,
}: Pick<Clients, "layouts"> & { readonly findUploads: FindUploads }) {
  const find = (request: Incoming) =>
    layouts.getLayout(request.inEvent({ id: request.id("id") }), { signal: request.signal });

  const toFields = async (request: Incoming, sent: SentLayout): Promise<LayoutFields> => ({
    name: sent.name ?? "",
    isDefault: sent.default ?? false,
    elements: sent.layout ?? "",
    background: await findBackground(sent.background, { findUploads, caller: request.tenant }),
  });

  /** A layout that is sent as it was read has the address of its background, which stays. */
  const withoutShownBackground = async (request: Incoming, sent: SentLayout): Promise<SentLayout> => {
    const { background, ...others } = sent;
    if (background?.startsWith("http") !== true) return sent;
    const { layout } = await find(request);
    return background === presentLayout(layout, request).background ? others : sent;
  };

  const update = async (request: Incoming<unknown, SentLayout>) => {
    const sent = await withoutShownBackground(request, request.body);
    const fields = await toFields(request, sent).catch(async (error: unknown) => {
      await find(request);
      throw error;
    });
    const updateMask = Object.entries(fieldNames).flatMap(([name, field]) =>
      Object.hasOwn(sent, name) ? [field] : [],
    );
    const { layout } = await layouts.updateLayout(request.inEvent({ id: request.id("id") }, { fields, updateMask }), {
      timeoutMs: savingMs,
    });
    return replyJson("ok", presentLayout(layout, request));
  };

  const assign = (request: Incoming<unknown, readonly SentAssignment[]>) => {
    const assignments = request.body.map(({ item, sales_channel: salesChannel }) => ({ item, salesChannel }));
    return layouts.setAssignments(request.inEvent({ layout: request.id("id") }, { assignments }));
  };

  return {
    list: declareList({
      name: "listTicketLayouts",
      example: ticketLayoutExamples.list,
      summary: "Lists the ticket layouts of an event, sorted by name",
      access: reading,
      page: "One page of layouts.",
      shows: layoutShown,
      holdsJson: true,
      async find(request, page) {
        const found = await layouts.listLayouts(request.inEvent(page), { signal: request.signal });
        return { ...found, results: found.layouts.map((layout) => presentLayout(layout, request)) };
      },
    }),

    get: declare({
      name: "getTicketLayout",
      example: ticketLayoutExamples.get,
      summary: "Shows a ticket layout",
      access: reading,
      answers: { ok: shown("The layout."), notFound: missing },
      async handle(request) {
        const { layout } = await find(request);
        return replyJson("ok", presentLayout(layout, request));
      },
    }),

    create: declare({
      name: "createTicketLayout",
      example: ticketLayoutExamples.create,
      summary: "Creates a ticket layout",
      access: writing,
      body: layoutBody,
      answers: { created: shown("The new layout."), invalid, conflict },
      async handle(request) {
        const fields = await toFields(request, request.body);
        const { layout } = await layouts.createLayout(request.inEvent({}, { fields }), { timeoutMs: savingMs });
        return replyJson("created", presentLayout(layout, request));
      },
    }),

    patch: declare({
      name: "updateTicketLayout",
      example: ticketLayoutExamples.patch,
      summary: "Changes some fields of a ticket layout",
      access: writing,
      body: layoutPatch,
      answers: { ok: shown("The layout."), invalid, notFound: missing, conflict },
      exists: find,
      handle: update,
    }),

    put: declare({
      name: "replaceTicketLayout",
      example: ticketLayoutExamples.put,
      summary: "Sets all fields of a ticket layout",
      description:
        "Fields that are left out return to their default: without `background` it is removed. Sent as it was read, it stays.",
      access: writing,
      body: layoutBody,
      answers: { ok: shown("The layout."), invalid, notFound: missing, conflict },
      exists: find,
      handle: update,
    }),

    remove: declare({
      name: "deleteTicketLayout",
      example: ticketLayoutExamples.remove,
      summary: "Deletes a ticket layout",
      description: "If it was the default, the first that remains by name becomes it.",
      access: writing,
      answers: { noContent: { description: "It is deleted." }, notFound: missing, conflict },
      async handle(request) {
        await layouts.deleteLayout(request.inEvent({ id: request.id("id") }));
        return { status: "noContent" };
      },
    }),

    assign: declare({
      name: "assignTicketLayout",
      example: ticketLayoutExamples.assign,
      summary: "Sets the products and sales channels that a ticket layout is for",
      description: "The list is put in place of all that it was for.",
      access: writing,
      body: assignmentsBody,
      answers: { ok: shown("The layout."), invalid: invalidAssignments, notFound: missing, conflict },
      exists: find,
      async handle(request) {
        const { layout } = await assign(request);
        return replyJson("ok", presentLayout(layout, request));
      },
    }),

    assignments: declareList({
      name: "listTicketLayoutItems",
      example: ticketLayoutExamples.assignments,
      summary: "Lists the products and sales channels that ticket layouts are for",
      access: reading,
      page: "One page of assignments.",
      shows: assignmentShown,
      async find(request, page) {
        const found = await layouts.listAssignments(request.inEvent(page), { signal: request.signal });
        return { ...found, results: found.assignments.map(presentAssignment) };
      },
    }),

    assignment: declare({
      name: "getTicketLayoutItem",
      example: ticketLayoutExamples.assignment,
      summary: "Shows a product and a sales channel that a ticket layout is for",
      access: reading,
      answers: {
        ok: { description: "The assignment.", schema: assignmentShown },
        notFound: notFound("The event has no such assignment."),
      },
      async handle(request) {
        const { signal } = request;
        const { assignment } = await layouts.getAssignment(request.inEvent({ id: request.id("id") }), { signal });
        return { status: "ok", body: presentAssignment(assignment) };
      },
    }),
  };
}
