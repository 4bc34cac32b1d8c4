import { type CaughtUp, settle } from "@tessera/kit/bus/settle";
import { Fault } from "@tessera/kit/fault";
import { WorkFailed, workOn } from "@tessera/kit/jobs/workers";
import type { Client } from "@tessera/kit/rpc";
import type { CancelSaleRequest, SoldTicket } from "@tessera/protos/gen/ticketing/boxoffice/v1/sales";
import type { Facts, Sales } from "@tessera/protos/services";
import { type BatchOrder, makeBatch, mostFailures } from "../make-work.ts";
import { insertBatch } from "../store/batches.ts";
import { lockEvent } from "../store/events.ts";

export interface MakeTools {
  readonly sales: Client<Sales>;
  readonly boxofficeFacts: Pick<Client<Facts>, "markFacts">;
  readonly checkinFacts: { readonly caughtUp: CaughtUp };
}

/** Boxoffice makes ten thousand orders in a second or two, if it need not wait for others. */
const sellingMs = 30_000;

/** Gates have ten thousand tickets within a second; a longer outage is waited for by the next try. */
const settlingMs = 30_000;

/** Makes batches: sells the tickets, waits until gates have them, and stores the batch. Each step may be repeated. */
export const makeBatches = workOn(makeBatch, async ({ payload: order, tries, signal }, tools: MakeTools) => {
  const tickets = await sell(order, tools, { tries, signal });
  const until = Date.now() + settlingMs;
  const { boxofficeFacts: owner, checkinFacts } = tools;
  if (!(await settle({ owner, readers: [checkinFacts.caughtUp], until, signal })))
    throw new Error("gates do not have the tickets of a batch yet");
  return async (tx) => {
    if (!(await lockEvent(tx, order))) throw new WorkFailed("The event was deleted.");
    const orders = tickets.map((ticket) => ticket.order);
    const positions = tickets.map(({ position }) => position);
    return { id: await insertBatch(tx, { ...order, orders, positions }) };
  };
});

/** Sells the tickets, once for each order. What cannot be sold is final; other failures pass, up to a limit. */
async function sell(
  { job: sale, subevent, variation, layout: _layout, comment: _comment, ...order }: BatchOrder,
  { sales }: MakeTools,
  { tries, signal }: { readonly tries: number; readonly signal: AbortSignal },
): Promise<readonly SoldTicket[]> {
  const request = { ...order, sale, subevent: subevent ?? undefined, variation: variation ?? undefined };
  try {
    const { problems, tickets } = await sales.sellTickets(
      { ...request, onlyCheck: false },
      { timeoutMs: sellingMs, signal },
    );
    if (problems.length > 0) throw new WorkFailed(problems.map(({ message }) => message).join(" "));
    return tickets;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof WorkFailed || tries < mostFailures) throw error;
    // The answer of an earlier try may have been lost.
    await cancelSale(sales, { organizer: order.organizer, event: order.event, sale }, signal);
    const isBusy = error instanceof Fault && error.kind === "conflict";
    throw new WorkFailed(
      isBusy
        ? "Other sales of the same tickets took too long. Create the batch again later."
        : "The tickets could not be sold. Create the batch again later.",
    );
  }
}

/** Cancels a sale, if it was made. */
async function cancelSale(sales: MakeTools["sales"], sale: CancelSaleRequest, signal: AbortSignal): Promise<void> {
  try {
    await sales.cancelSale(sale, { timeoutMs: sellingMs, signal });
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== "not_found") throw error;
  }
}
