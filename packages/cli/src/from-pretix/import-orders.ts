import { parseInstant } from "@tessera/values";
import { embedAnswers } from "./embed-answers.ts";
import { permissions } from "./event-lists.ts";
import { addRecord, addressIn, askedSince, describePlace, mayMove, type Place } from "./import-run.ts";
import type { SourceState } from "./import-state.ts";
import { type Json, readAnswer } from "./read-answer.ts";
import { readList } from "./read-list.ts";

const path = "orders/";

/** What is no part of a record is not asked for: it is most of an order. */
const shape = {
  include_canceled_positions: "true",
  include_canceled_fees: "true",
  exclude: ["payments", "refunds", "downloads", "positions.downloads", "positions.print_logs"],
};

/** More codes than this are not worth a list: then the whole run is repeated. */
const mostRejected = 200;

/**
 * Sends orders from the oldest to the newest, and remembers how far they are stored: a run that is killed goes on there.
 * Orders that change behind its back are found by the next run, which asks for what changed since this one began.
 */
export async function importOrders(place: Place): Promise<void> {
  const { run, state } = place;
  await sendRejectedAgain(place);
  const goesOn = run.since === undefined ? state.unfinishedOrders : undefined;
  const from = goesOn === undefined ? state.marks.get(path) : goesOn.from;
  const url = addressIn(place, path, {
    ...shape,
    ordering: "datetime",
    testmode: "false",
    modified_since: askedSince(place, from),
    created_since: goesOn?.reached,
  });
  const pages = await readList(run.pretix, url, { permission: permissions.orders });
  if (typeof pages === "symbol") return;

  let generated = goesOn?.generated;
  let reached = goesOn?.reached;
  let inOrder = true;
  let read = 0;
  for await (const page of pages) {
    generated ??= page.headers.get("x-page-generated") ?? undefined;
    run.onProgress(`${describePlace(place)}: ${path}`, { read, of: page.count });
    for (const order of page.results) {
      await sendOrder(place, order);
      const datetime = String(order["datetime"]);
      // A server that does not sort may still bring an older one.
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
    if (!mayMove(place, state.marks.get(path))) return;
    state.unfinishedOrders = undefined;
    if (generated !== undefined && !state.manyRejected) state.marks.set(path, generated);
    state.manyRejected = false;
  });
}

/** Remembers an order that the platform did not take. */
export function rememberRejectedOrder(state: SourceState, code: string): void {
  state.retriedOrders.delete(code);
  if (state.rejectedOrders.size < mostRejected || state.rejectedOrders.has(code)) state.rejectedOrders.add(code);
  else state.manyRejected = true;
}

async function sendRejectedAgain(place: Place): Promise<void> {
  const { run, state } = place;
  const codes = [...state.rejectedOrders];
  for (const code of codes) state.retriedOrders.add(code);
  for (const [index, code] of codes.entries()) {
    run.onProgress(`${describePlace(place)}: rejected orders`, { read: index, of: codes.length });
    const url = addressIn(place, `${path}${encodeURIComponent(code)}/`, shape);
    const { answer, body } = await readAnswer(run.pretix, url, { permission: permissions.orders, expected: [404] });
    if (answer.status === 200) await sendOrder(place, body);
  }
  run.feed.mark(() => {
    for (const code of state.retriedOrders) state.rejectedOrders.delete(code);
    state.retriedOrders.clear();
  });
}

async function sendOrder(place: Place, order: Json): Promise<void> {
  const { run, event } = place;
  const embedded = await embedAnswers(order, {
    pretix: run.pretix,
    organizer: run.organizer,
    event,
    onLeftOut: (what) => run.tally.leaveOut(what),
  });
  await addRecord(place, "order", embedded);
}

function isAfter(datetime: string, earlier: string | undefined): boolean {
  const instant = parseInstant(datetime);
  const before = earlier === undefined ? Number.NEGATIVE_INFINITY : parseInstant(earlier);
  return instant !== undefined && before !== undefined && instant >= before;
}
