import { isObject, parseInstant } from "@tessera/values";
import { embedAnswers } from "./embed-answers.ts";
import { permissions } from "./event-lists.ts";
import { addRecord, addressIn, askedSince, describeScope, mayMove, type Scope } from "./import-run.ts";
import type { SourceState } from "./import-state.ts";
import { type Json, readAnswer } from "./read-answer.ts";
import { readList } from "./read-list.ts";

const path = "orders/";

/** Leaves out fields that no record holds: they are most of an order. */
const shape = {
  include_canceled_positions: "true",
  include_canceled_fees: "true",
  exclude: ["payments", "refunds", "downloads", "positions.downloads", "positions.print_logs"],
};

/** If more orders are rejected, the next run reads all of this run again. */
const mostRejected = 200;

/**
 * Sends orders from oldest to newest, and records progress, so that a killed run continues there. The next run asks for
 * changes since this one began, so it finds concurrent changes.
 */
export async function importOrders(scope: Scope): Promise<void> {
  const { run, state } = scope;
  await sendRejectedAgain(scope);
  const resumed = run.since === undefined ? state.unfinishedOrders : undefined;
  const from = resumed === undefined ? state.marks.get(path) : resumed.from;
  const url = addressIn(scope, path, {
    ...shape,
    ordering: "datetime",
    testmode: "false",
    modified_since: askedSince(scope, from),
    created_since: resumed?.reached,
  });
  const pages = await readList(run.pretix, url, { permission: permissions.orders });
  if (typeof pages === "symbol") return;

  let generated = resumed?.generated;
  let reached = resumed?.reached;
  let inOrder = true;
  let read = 0;
  for await (const page of pages) {
    generated ??= page.headers.get("x-page-generated") ?? undefined;
    run.onProgress(`${describeScope(scope)}: ${path}`, { read, of: page.count });
    for (const order of page.results) {
      await sendOrder(scope, order);
      const datetime = String(order["datetime"]);
      // An unsorted list may contain an older order later.
      inOrder &&= isAfter(datetime, reached);
      reached = datetime;
    }
    read += page.results.length;
    if (reached === undefined || !inOrder || run.since !== undefined) continue;
    const unfinished = { from, generated, reached };
    run.feed.mark(() => {
      state.unfinishedOrders = unfinished;
    });
  }
  run.feed.mark(() => {
    if (!mayMove(scope, state.marks.get(path))) return;
    state.unfinishedOrders = undefined;
    if (generated !== undefined && !state.manyRejected) state.marks.set(path, generated);
    state.manyRejected = false;
  });
}

/** Records an order that the platform rejected. */
export function recordRejectedOrder(state: SourceState, code: string): void {
  state.retriedOrders.delete(code);
  if (state.rejectedOrders.size < mostRejected || state.rejectedOrders.has(code)) state.rejectedOrders.add(code);
  else state.manyRejected = true;
}

async function sendRejectedAgain(scope: Scope): Promise<void> {
  const { run, state } = scope;
  const codes = [...state.rejectedOrders];
  for (const code of codes) state.retriedOrders.add(code);
  for (const [index, code] of codes.entries()) {
    run.onProgress(`${describeScope(scope)}: rejected orders`, { read: index, of: codes.length });
    const url = addressIn(scope, `${path}${encodeURIComponent(code)}/`, shape);
    const { answer, body } = await readAnswer(run.pretix, url, { permission: permissions.orders, expected: [404] });
    if (answer.status === 200) await sendOrder(scope, body);
  }
  run.feed.mark(() => {
    for (const code of state.retriedOrders) state.rejectedOrders.delete(code);
    state.retriedOrders.clear();
  });
}

async function sendOrder(scope: Scope, order: Json): Promise<void> {
  const { run, event } = scope;
  const embedded = await embedAnswers(order, {
    pretix: run.pretix,
    examiner: run.examiner,
    organizer: run.organizer,
    event,
    onLeftOut: (what) => run.tally.leaveOut(what),
  });
  await addRecord(scope, "order", withoutMarks(embedded));
}

/** Pretix replaces the parts of an erased name with a mark that is no text; the platform would reject the order. */
function withoutMarks(order: Json): Json {
  const positions = Array.isArray(order["positions"]) ? order["positions"] : [];
  return {
    ...order,
    positions: positions.map((position: unknown) => {
      const parts = isObject(position) ? position["attendee_name_parts"] : undefined;
      const isErased = isObject(parts) && parts["_shredded"] === true;
      return isObject(position) && isErased ? { ...position, attendee_name_parts: {} } : position;
    }),
  };
}

function isAfter(datetime: string, earlier: string | undefined): boolean {
  const instant = parseInstant(datetime);
  const before = earlier === undefined ? Number.NEGATIVE_INFINITY : parseInstant(earlier);
  return instant !== undefined && before !== undefined && instant >= before;
}
