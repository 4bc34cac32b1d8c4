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
      admitted: 100,
      others: {},
      p50: 1,
      p99: isLate ? 900 : 5,
      longest: 9,
      answeredInTime: 100,
      nextTicket: 1,
    };
  };
  return { asked, run };
}

it.each([700, 3333, 12_000])("finds the rate that a platform holds, with a capacity of %i", async (capacity) => {
  const { run, asked } = platform(capacity);
  const rate = await findRate(run, { p99Ms: 50 });
  expect(rate).toBeLessThanOrEqual(capacity * 0.95);
  expect(rate).toBeGreaterThan(capacity * 0.85);
  expect(asked.length).toBeLessThan(20);
});

it("ends on a machine that holds no rate", async () => {
  const { run, asked } = platform(0);
  await findRate(run, { p99Ms: 50 });
  expect(asked.length).toBeLessThan(20);
});
