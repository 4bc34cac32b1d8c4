import { conference, conferenceRecords } from "./conference.ts";
import type { OfEvent } from "./demo-event.ts";
import { secretOf } from "./demo-order.ts";
import { festivalRecords } from "./festival.ts";

/** Names and ids in the `curl` lines of the demo. */
export const demo = { organizer: "demo", event: conference, list: 1, position: 1, item: 1 } as const;

/** Tickets and add-ons of both events together. */
export const demoPositions = 20_000;

/** The secret of the first ticket, which is for the conference. */
export const firstSecret = secretOf(conference, demo.position);

/**
 * The demo as NDJSON: an organizer with its keys, a festival, a conference. The list of the `curl` lines comes last, so a
 * demo that has it is complete.
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
export function* demoRecords(keys: { apiKey: string; deviceKey: string }): Generator<object> {
  const { organizer } = demo;
  const ofOrganizer = (kind: string, data: Record<string, unknown>) => ({ kind, organizer, data });
  const ofEvent =
    (event: string): OfEvent =>
    (kind, data) => ({ kind, organizer, event, data });

  yield ofOrganizer("organizer", { slug: organizer, name: "Demo Events" });
  yield ofOrganizer("api_key", { token: keys.apiKey, name: "demo", permissions: ["*"], all_events: true });
  yield ofOrganizer("gate", { id: 1, name: "Main entrance", identifier: "main" });
  yield ofOrganizer("gate", { id: 2, name: "North gate", identifier: "north" });
  yield ofOrganizer("device", {
    device_id: 1,
    token: keys.deviceKey,
    name: "Scanner 1",
    gate: 1,
    security_profile: "full",
    software_brand: "demo",
    all_events: true,
  });
  const ofConference = [...conferenceRecords(ofEvent(conference))];
  yield* festivalRecords(ofEvent, demoPositions - countPositions(ofConference));
  yield* ofConference;
}

function countPositions(records: readonly object[]): number {
  return records.reduce((count, record) => {
    const { data } = record as { data: { positions?: readonly unknown[] } };
    return count + (data.positions?.length ?? 0);
  }, 0);
}
