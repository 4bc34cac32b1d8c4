import { expect, it } from "vitest";
import { findRate } from "./redeem-rate.ts";

/** A platform that is late above its capacity, and a little earlier when the load lasts. */
function platform(capacity: number) {
  const asked: number[] = [];
  const run = async (perSecond: number, seconds: number) => {
    asked.push(perSecond);
    const isLate = perSecond > (seconds > 10 ? capacity * 0.95 : capacity);
    return {
      sent: 100,
      tickets: Array.from({ length: 100 }, (_, ticket) => ticket),
      p99: isLate ? 900 : 5,
    };
  };
  return { asked, run };
}

it.each([700, 3333, 12_000])("finds the rate that a platform holds, with a capacity of %i", async (capacity) => {
  const { run, asked } = platform(capacity);
  const { perSecond: rate, held } = await findRate(run, { p99Ms: 50 });
  expect(held.p99).toBe(5);
  expect(rate).toBeLessThanOrEqual(capacity * 0.95);
  expect(rate).toBeGreaterThan(capacity * 0.85);
  expect(asked.length).toBeLessThan(60);
});

it("finds the rate although the machine pauses once", async () => {
  const { run } = platform(3333);
  let runs = 0;
  const paused = async (perSecond: number, seconds: number) => {
    const result = await run(perSecond, seconds);
    runs += 1;
    return runs === 1 ? { ...result, p99: 900 } : result;
  };
  expect(await findRate(paused, { p99Ms: 50 })).toHaveProperty(
    "perSecond",
    expect.toSatisfy((rate: number) => rate > 2800),
  );
});

it("ends on a machine that holds no rate", async () => {
  const { run, asked } = platform(0);
  await findRate(run, { p99Ms: 50 });
  expect(asked.length).toBeLessThan(40);
});
