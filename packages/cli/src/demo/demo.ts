import { readFileSync } from "node:fs";
import { conferenceOrders, festivalOrders, type Order, secretOf } from "./demo-orders.ts";

/** Names and ids in the `curl` lines of the demo. */
export const demo = { organizer: "demo", event: "conference", list: 1, position: 1, item: 1 } as const;

/** Tickets and add-ons of both events together. */
export const demoPositions = 20_000;

/** The secret of the first ticket, which is for the conference. */
export const firstSecret = secretOf(demo.event, demo.position);

/** Records as NDJSON, with placeholder lines for the orders of an event. */
const file = new URL("../../demo/demo.ndjson", import.meta.url);

/**
 * The demo as NDJSON: an organizer with its keys, a festival, a conference. The list of the `curl` lines comes last: if
 * it exists, the demo is complete.
 */
export async function* demoStream(
  keys: { apiKey: string; deviceKey: string },
  onRecord: (count: number) => void = () => {},
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let count = 0;
  for (const record of demoRecords(keys)) {
    yield encoder.encode(`${JSON.stringify(record)}\n`);
    count += 1;
    onRecord(count);
  }
}

/** The records of the demo, the same every time. */
export function* demoRecords({ apiKey, deviceKey }: { apiKey: string; deviceKey: string }): Generator<object> {
  const conference = [...conferenceOrders(demo.event)];
  const sold = conference.reduce((count, { positions }) => count + positions.length, 0);
  const orders: Readonly<Record<string, Iterable<Order>>> = {
    conference,
    festival: festivalOrders("festival", demoPositions - sold),
  };
  const text = readFileSync(file, "utf8").replace("API_KEY", apiKey).replace("DEVICE_KEY", deviceKey);
  for (const line of text.trimEnd().split("\n")) {
    const record = JSON.parse(line) as { readonly orders?: string };
    const { orders: event } = record;
    if (event === undefined) yield record;
    else for (const data of orders[event] ?? []) yield { kind: "order", organizer: demo.organizer, event, data };
  }
}
