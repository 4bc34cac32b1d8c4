import { compileLayoutSchema, layoutAssignment, layoutElements, ticketLayout } from "@tessera/resources/ticket-layout";
import { arrayOf, boolean, id, object, partial, text } from "@tessera/schema/build";
import type { TypeOf } from "@tessera/schema/schema";
import { fieldErrors, record } from "../../http/answers.ts";
import { listBodyOf } from "../../http/list-body.ts";
import { type Answer, bodyOf, type ObjectBody } from "../../http/route.ts";

/** Larger than any valid layout, so that the error can say what is wrong. */
export const layoutLimits = { maxBytes: 512 * 1024, mostValues: 30_000 };

/** The body of POST and PUT: missing fields get their defaults. */
const whole = { title: "TicketLayoutBody", ...ticketLayout };

export const layoutBody: ObjectBody<TypeOf<typeof whole>> = {
  ...bodyOf(whole, layoutLimits),
  check: compileLayoutSchema(whole),
};

/** The same fields without defaults: fields missing in a PATCH keep their values. */
const patchable = { title: "TicketLayoutPatch", ...partial(ticketLayout) };

export const layoutPatch: ObjectBody<TypeOf<typeof patchable>> = {
  ...bodyOf(patchable, { missingBooleans: "absent", ...layoutLimits }),
  check: compileLayoutSchema(patchable),
};

export type SentAssignment = TypeOf<typeof layoutAssignment>;

export const assignmentsBody = listBodyOf(
  bodyOf({ title: "TicketLayoutAssignmentBody", ...layoutAssignment }, { maxBytes: 64 * 1024, mostValues: 5000 }),
  { mostElements: 1000, maxBytes: 512 * 1024 },
);

/** A product and a sales channel. */
const target = { item: id(), sales_channel: text({ trim: false }) };

export const layoutShown = record("TicketLayout", {
  id: id(),
  name: text({ trim: false }),
  default: boolean(),
  layout: layoutElements,
  background: text({
    nullable: true,
    description: "Address of the PDF, readable without credentials; null: the built-in page.",
  }),
  item_assignments: arrayOf(object(target, { required: ["item", "sales_channel"], closed: true })),
});

export const assignmentShown = record("TicketLayoutItem", { id: id(), layout: id(), ...target });

export const invalidAssignments: Answer = {
  description:
    "The request is not valid. The errors of each assignment are told, in the order of the request; a good one has none.",
  schema: { anyOf: [{ type: "array", items: fieldErrors }, fieldErrors] },
};
