import { setTimeout as sleep } from "node:timers/promises";
import { demo } from "./demo.ts";

/** Tickets for the desk at the entrance. */
const wanted = { item: 1, layout: 1, sales_channel: "web", amount: 40, comment: "For the desk at the entrance" };

/** Makes the batch of the demo through the REST API, unless the event has one, or the platform has no offline sales. */
export async function makeDemoBatch({
  url,
  apiKey,
  signal,
}: {
  readonly url: string;
  readonly apiKey: string;
  readonly signal: AbortSignal;
}): Promise<void> {
  const headers = { authorization: `Token ${apiKey}`, "content-type": "application/json" };
  const batches = new URL(`/api/v1/organizers/${demo.organizer}/events/${demo.event}/offlinesalesbatches/`, url);
  const found = await fetch(batches, { headers, signal });
  const listed = (await found.json()) as { readonly count?: number };
  if (found.status === 404 || (listed.count ?? 0) > 0) return;
  // An idempotency key: an interrupted start may have made the batch already.
  const once = { ...headers, "x-idempotency-key": "demo-batch" };
  const asked = await fetch(batches, { method: "POST", headers: once, signal, body: JSON.stringify(wanted) });
  const { check } = (await asked.json()) as { readonly check?: string };
  if (check === undefined) throw new Error(`the batch of the demo was refused: ${asked.status}`);
  // The public address need not be reachable from here.
  const address = new URL(new URL(check).pathname, url);
  for (;;) {
    const answer = await fetch(address, { headers, signal });
    const shown = await answer.text();
    if (answer.status === 200) return;
    if (answer.status !== 409) throw new Error(`the batch of the demo was not made: ${answer.status} ${shown}`);
    await sleep(askAgainMs, undefined, { signal });
  }
}

const askAgainMs = 100;
