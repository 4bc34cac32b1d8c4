import { describe, expect, it } from "vitest";
import { demoPositions, demoRecords, firstSecret } from "./demo.ts";

interface DemoRecord {
  readonly kind: string;
  readonly event?: string;
  // biome-ignore lint/suspicious/noExplicitAny: records of every kind
  readonly data: any;
}

const keys = { apiKey: "a", deviceKey: "d" };
const records = [...demoRecords(keys)] as DemoRecord[];
const orders = records.filter(({ kind }) => kind === "order");
const positions = orders.flatMap(({ event, data }) =>
  data.positions.map((position: object) => ({ event, status: data.status, ...position })),
);

describe("the demo", () => {
  it("is the same every time", () => {
    expect(JSON.stringify([...demoRecords(keys)])).toBe(JSON.stringify(records));
  });

  it("has as many tickets as it says, each with a secret and an id of its own", () => {
    expect(positions).toHaveLength(demoPositions);
    expect(new Set(positions.map(({ secret }) => secret)).size).toBe(demoPositions);
    expect(new Set(positions.map(({ event, id }) => `${event} ${id}`)).size).toBe(demoPositions);
    expect(new Set(orders.map(({ event, data }) => `${event} ${data.code}`)).size).toBe(orders.length);
    expect(positions.some(({ secret }) => secret === firstSecret)).toBe(true);
  });

  it("sells no more than its quotas hold", () => {
    for (const { event, data: quota } of records.filter(({ kind }) => kind === "quota")) {
      const sold = positions.filter(
        (position) =>
          position.event === event &&
          (position.subevent ?? null) === (quota.subevent ?? null) &&
          (position.variation === null
            ? quota.items.includes(position.item)
            : quota.variations.includes(position.variation)),
      );
      expect(sold.length, quota.name).toBeGreaterThan(0);
      expect(sold.length, quota.name).toBeLessThanOrEqual(quota.size);
    }
  });
});
