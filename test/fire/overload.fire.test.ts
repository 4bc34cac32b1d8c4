import { measureOverload, promisedMs } from "@tessera/dev/bench/overload";
import { expect, it } from "vitest";
import { report } from "../failure/seeded.ts";

/** Small, so that a busy machine is not slower than the limit; `npm run bench -- overload` measures a thousand a second. */
const capacity = 150;
const seconds = 20;

/** A busy machine takes so many times as long. */
const slack = 2;

it("[C3.47] five times as many scans come as can be decided: that many are admitted soon, and the rest are refused at once", {
  timeout: 240_000,
}, async () => {
  const { during, after } = await measureOverload({ capacity, seconds });
  report({ during, after });
  const { admitted, sent, others } = during;
  expect(others).toEqual({ 429: sent - admitted });
  expect(admitted / seconds).toBeGreaterThan(capacity * 0.8);
  expect(admitted / seconds).toBeLessThan(capacity * 1.3);
  expect(during.p99Admitted).toBeLessThan(promisedMs.accepted * slack);
  expect(during.p99Refused).toBeLessThan(promisedMs.refused * slack);
  expect(after.others).toEqual({});
  expect(after.p99).toBeLessThan(promisedMs.recovered * slack * 2);
});
