import { type CaughtUp, settle } from "@tessera/kit/bus/settle";
import { Fault } from "@tessera/kit/fault";
import { WorkFailed, workOn } from "@tessera/kit/jobs/work-on";
import type { Client } from "@tessera/kit/rpc";
import type { SoldTicket } from "@tessera/protos/gen/ticketing/boxoffice/v1/sales";
import type { Facts, Sales } from "@tessera/protos/services";
import { type BatchOrder, makeBatch, mostFailures } from "../make-work.ts";
import { lockEvent } from "../store/events.ts";
import { insertBatch } from "../store/stored-batches.ts";
import { cancelSale, sellingMs } from "./cancel-sale.ts";

export interface MakeTools {
  readonly sales: Client<Sales>;
  readonly boxofficeFacts: Pick<Client<Facts>, "markFacts">;
  readonly checkinFacts: { readonly caughtUp: CaughtUp };
}

/** Gates have ten thousand tickets within a second; a longer outage is waited for by the next try. */
const settlingMs = 30_000;

/** Before the last try gates had twenty minutes. */
const lastLookMs = 2000;

/**
 * Makes batches: sells the tickets, waits until gates have them, and stores the batch. Each step may be repeated. What
 * cannot be sold is final. Other failures pass; if they last too long, what may have been sold is canceled.
 */
export const makeBatches = workOn(makeBatch, async ({ payload: order, tries, signal, step }, tools: MakeTools) => {
  const isLast = tries >= mostFailures;
  try {
    const tickets = await sell(order, tools, signal);
    await untilAtGates(tools, { waitMs: isLast ? lastLookMs : settlingMs, signal });
    if (isLast && !(await step((tx) => lockEvent(tx, order)))) throw new EventIsAway();
    return async (tx) => {
      if (!(await lockEvent(tx, order))) throw new EventIsAway();
      const orders = tickets.map((ticket) => ticket.order);
      const positions = tickets.map(({ position }) => position);
      return { id: await insertBatch(tx, { ...order, orders, positions }) };
    };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof WorkFailed || !isLast) throw error;
    // A worker that has lost its lease cancels nothing: the next one may have stored the batch.
    await step(async () => {});
    const { organizer, event, job: sale } = order;
    // The answer of an earlier try may have been lost.
    await cancelSale(tools.sales, { organizer, event, sale }, signal);
    throw new WorkFailed(`${explain(error)} ${later}`);
  }
});

/** A rebuild has left the event out, and may bring it back. The work of an event that was deleted ends with it. */
class EventIsAway extends Error {
  override readonly name = "EventIsAway";
}

/** Sells the tickets, once for each order. */
async function sell(
  { job: sale, subevent, variation, layout: _layout, comment: _comment, ...order }: BatchOrder,
  { sales }: MakeTools,
  signal: AbortSignal,
): Promise<readonly SoldTicket[]> {
  const request = { ...order, sale, subevent: subevent ?? undefined, variation: variation ?? undefined };
  const { problems, tickets, canceled } = await sales.sellTickets(
    { ...request, onlyCheck: false },
    { timeoutMs: sellingMs, signal },
  );
  if (problems.length > 0) throw new WorkFailed(problems.map(({ message }) => message).join(" "));
  // An earlier try has given up, and was killed before it could say so.
  if (canceled === true) throw new WorkFailed(`${notSold} ${later}`);
  return tickets;
}

class GatesAreLate extends Error {
  override readonly name = "GatesAreLate";
}

async function untilAtGates(
  { boxofficeFacts: owner, checkinFacts }: MakeTools,
  { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal },
): Promise<void> {
  if (await settle({ owner, readers: [checkinFacts.caughtUp], until: Date.now() + waitMs, signal })) return;
  throw new GatesAreLate("gates do not have the tickets of a batch yet");
}

const notSold = "The tickets could not be sold.";

const later = "Create the batch again later.";

/** Says for people what kept a batch from being made. */
function explain(error: unknown): string {
  if (error instanceof GatesAreLate) return "Gates could not be told of the tickets.";
  if (error instanceof EventIsAway) return "The event is not known here at the moment.";
  const isBusy = error instanceof Fault && error.kind === "conflict";
  return isBusy ? "Other sales of the same tickets took too long." : notSold;
}
