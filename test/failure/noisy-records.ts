import { eventData, itemData, listData, orderData, positionData } from "../e2e/sample-records.ts";
import { toLines } from "./festival.ts";

/** The organizer that does its worst. */
export const noisy = { organizer: "noisy", event: "loud" } as const;
export const noisyKey = `noisy-key-${"n".repeat(40)}`;
export const noisyDevice = `noisy-device-${"n".repeat(40)}`;

/** Its lists. */
export const noisyLists = { once: 1, often: 2, heavy: 3 } as const;

const ticketCount = 3000;
const itemCount = 40;

export const noisySecret = (index: number) => `noisy-ticket-${index % ticketCount}`;

type Data = Record<string, unknown>;

export const ofNoisyEvent = (kind: string, data: Data) => ({ kind, ...noisy, data });
const ofNoisyOrganizer = (kind: string, data: Data) => ({ kind, organizer: noisy.organizer, data });

/** An order of one ticket. */
export function noisyOrder(index: number, overrides: Data = {}): unknown {
  return ofNoisyEvent(
    "order",
    orderData({
      code: `N${index}`,
      positions: [
        positionData({
          id: 10_000 + index,
          secret: `noisy-ticket-${index}`,
          item: 1 + (index % itemCount),
          pseudonymization_id: `N${index}`,
          ...overrides,
        }),
      ],
    }),
  );
}

/** A rule that takes long to judge. */
const heavyRule = {
  or: Array.from({ length: 300 }, () => ({
    "<": [{ entries_days_since: [{ buildTime: ["customtime", "2026-01-01T00:00:00Z"] }] }, 0],
  })),
};

/** Products with long texts, many tickets, and a list whose rule is slow. */
export function noisyRecords(): string {
  return toLines([
    ofNoisyOrganizer("organizer", { slug: noisy.organizer, name: "Noisy" }),
    ofNoisyOrganizer("api_key", { token: noisyKey, name: "tests", permissions: ["*"], all_events: true }),
    ofNoisyOrganizer("device", {
      device_id: 3,
      token: noisyDevice,
      name: "Scanner",
      gate: null,
      security_profile: "full",
      software_brand: "tests",
      all_events: true,
    }),
    ofNoisyEvent("event", eventData({ slug: noisy.event })),
    ofNoisyEvent("category", { id: 1, name: { en: "Tickets" }, position: 1 }),
    ...Array.from({ length: itemCount }, (_, index) =>
      ofNoisyEvent("item", itemData({ id: index + 1, description: { en: "long text ".repeat(400) } })),
    ),
    ofNoisyEvent("checkin_list", listData({ id: noisyLists.once, name: "Once" })),
    ofNoisyEvent("checkin_list", listData({ id: noisyLists.often, name: "Often", allow_multiple_entries: true })),
    ofNoisyEvent("checkin_list", listData({ id: noisyLists.heavy, name: "Heavy", rules: heavyRule })),
    ...Array.from({ length: ticketCount }, (_, index) => noisyOrder(index)),
  ]);
}
