import { seededNumbers } from "@tessera/testkit/seeded-numbers";
import { describe, expect, it } from "vitest";
import { drawArrivals, groundwork, orders, outageOf, type Plan, removals, secretOf, ticketsOf } from "./plan.ts";

const plan: Plan = { organizer: "simulation-1", gates: 4, arrivals: 7200, minutes: 30, outageSeconds: 60 };

describe("arrivals", () => {
  const drawn = drawArrivals(plan, seededNumbers(7));

  it("are as many as planned for one gate, and in order", () => {
    // 7200 an hour at four gates are 900 in half an hour at each.
    expect(drawn.length).toBeGreaterThan(800);
    expect(drawn.length).toBeLessThan(1000);
    expect(drawn.every(({ at }, index) => at >= (drawn[index - 1]?.at ?? 0) && at < 30 * 60_000)).toBe(true);
  });

  it("vary: a third of the pauses is shorter than four tenths of the mean one", () => {
    const pauses = drawn.map(({ at }, index) => at - (drawn[index - 1]?.at ?? 0));
    const short = pauses.filter((pause) => pause < 0.4 * 2000).length / pauses.length;
    expect(short).toBeCloseTo(1 - Math.exp(-0.4), 1);
  });

  it("are of all kinds, most of them for the first time", () => {
    const share = (wanted: string) => drawn.filter(({ kind }) => kind === wanted).length / drawn.length;
    expect(share("first")).toBeGreaterThan(0.93);
    expect(share("again")).toBeGreaterThan(0);
    expect(share("unknown")).toBeGreaterThan(0);
  });
});

it("an outage is in the middle, and there may be none", () => {
  expect(outageOf(plan)).toEqual({ from: 870_000, to: 930_000 });
  expect(outageOf({ ...plan, outageSeconds: 0 })).toBeUndefined();
});

it("there are more tickets than visitors are expected, each with its own secret", () => {
  expect(ticketsOf(plan)).toBe(4370);
  const made = [...orders(plan, { now: new Date(0) })] as { data: { positions: { id: number; secret: string }[] } }[];
  const positions = made.flatMap(({ data }) => data.positions);
  expect(positions.map(({ id }) => id)).toEqual(Array.from({ length: 4370 }, (_, index) => index + 1));
  expect(new Set(positions.map(({ secret }) => secret)).size).toBe(4370);
  expect(positions[0]?.secret).toBe(secretOf(plan, 1));
});

it("each gate has a device, and all that was made is removed", () => {
  const made = groundwork(plan, { tokens: ["a", "b"], now: new Date(0) }) as { kind: string }[];
  expect(made.filter(({ kind }) => kind === "device")).toHaveLength(2);
  expect(removals(plan).flat()).toMatchObject([
    { kind: "event", organizer: plan.organizer, deleted: true },
    { kind: "organizer", organizer: plan.organizer, deleted: true },
  ]);
});
