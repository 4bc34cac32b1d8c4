import { performance } from "node:perf_hooks";
import { object, text } from "@tessera/schema/build";
import { expect, it } from "vitest";
import { bodyOf } from "../http/route.ts";
import { parsePausing } from "./parse-pausing.ts";

const json = { type: "application/json", encoding: "" };
const body = bodyOf(object({ name: text({ blank: false }) }));
const manyNames = (from: number) =>
  Buffer.from(JSON.stringify(Object.fromEntries(Array.from({ length: 19_000 }, (_, at) => [`k${from + at}`, 1]))));

it("[S4.27] large bodies that follow each other leave half of the time to others", async () => {
  const sent = [1, 2, 3, 4, 5].map((part) => manyNames(part * 100_000));
  const before = performance.eventLoopUtilization();
  for (const bytes of sent) await parsePausing(bytes, json, body);
  expect(performance.eventLoopUtilization(before).utilization).toBeLessThan(0.7);
});
