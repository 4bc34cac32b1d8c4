import type { RecordKind } from "@tessera/records/kind";
import { notKnown, refuseEach } from "@tessera/records/validate";
import { layoutAssignmentRecord } from "@tessera/resources/ticket-layout";
import { compileSchema } from "@tessera/schema/schema";
import { firstIdMadeHere } from "@tessera/values";
import type { Assignment } from "../domain/selection/layout.ts";
import { deleteAssignments, findOfItems, putAssignments } from "../store/assigned-layouts.ts";
import type { Known, Mentioned } from "./known.ts";

const check = compileSchema(layoutAssignmentRecord, { namesParts: true });

const madeHere = `Assignments with ids from ${firstIdMadeHere} on were made here; no record may bring or replace one.`;

/**
 * A product and a sales channel that a layout is for. The channel need not be known: the channels of some shops cannot
 * be read, and an assignment to an unknown channel does no harm.
 */
export const ticketLayoutItem: RecordKind<Assignment, Mentioned, Known> = {
  name: "ticket_layout_item",
  schema: layoutAssignmentRecord,
  read(data) {
    const checked = check(data);
    if (!checked.ok) return checked;
    const { sales_channel: salesChannel, ...assignment } = checked.value;
    if (assignment.id >= firstIdMadeHere) return { ok: false, errors: { id: [madeHere] } };
    return { ok: true, value: { ...assignment, salesChannel } };
  },
  keyOf: ({ id }) => String(id),
  mention({ item, layout }, mentioned) {
    mentioned.items.add(item);
    mentioned.layouts.add(layout);
  },
  async refuse(_tx, { values, known }) {
    return refuseEach(values, ({ item, layout }, addError) => {
      if (!known.items.has(item)) addError("item", notKnown(`item ${item}`));
      if (!known.layouts.has(layout)) addError("layout", notKnown(`layout ${layout}`));
    });
  },
  async store(tx, { scope, values }) {
    // The record replaces an equal assignment under another id.
    const ids = new Map(values.map((each) => [nameOf(each), each.id]));
    const held = await findOfItems(
      tx,
      scope,
      values.map(({ item }) => item),
    );
    const replaced = [...held, ...values].filter((each) => (ids.get(nameOf(each)) ?? each.id) !== each.id);
    await deleteAssignments(
      tx,
      scope,
      replaced.map(({ id }) => id),
    );
    await putAssignments(
      tx,
      scope,
      values.filter((each) => ids.get(nameOf(each)) === each.id),
    );
  },
  async remove(tx, { scope, keys }) {
    await deleteAssignments(tx, scope, keys.map(Number));
  },
};

function nameOf({ item, salesChannel, layout }: Assignment): string {
  return `${item}/${layout}/${salesChannel}`;
}
