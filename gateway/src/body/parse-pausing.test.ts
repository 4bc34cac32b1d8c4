import { performance } from "node:perf_hooks";
import { object, text } from "@tessera/schema/build";
import { expect, it } from "vitest";
import { bodyOf } from "../http/route.ts";
import { pausingParser } from "./parse-pausing.ts";
import { freeBytes } from "./read-body.ts";

const json = { type: "application/json", encoding: "" };
const body = bodyOf(object({ name: text({ blank: false }) }));
/** Just more than a small body, so that a slow machine, too, parses them faster than the longest pause. */
const manyNames = (from: number) =>
  Buffer.from(JSON.stringify(Object.fromEntries(Array.from({ length: 5_700 }, (_, at) => [`k${from + at}`, 1]))));

it.each([1, 3])(
  "[S4.27] large bodies that %i organizers send one after the other leave half of the time to others",
  async (parties) => {
    const sent = [1, 2, 3, 4, 5, 6].map((part) => manyNames(part * 100_000));
    expect(Math.min(...sent.map(({ length }) => length))).toBeGreaterThan(freeBytes);
    const parse = pausingParser();
    const [before, loop] = [process.threadCpuUsage(), performance.eventLoopUtilization()];
    await Promise.all(
      Array.from({ length: parties }, async (_, party) => {
        for (const [at, bytes] of sent.entries())
          if (at % parties === party) await parse(`${party}`, bytes, json, body);
      }),
    );
    // The loop counts as active also while other processes have its processor; processor time does not.
    const { user, system } = process.threadCpuUsage(before);
    const busyMs = (user + system) / 1000;
    const { idle: idleMs } = performance.eventLoopUtilization(loop);
    expect(busyMs / (busyMs + idleMs)).toBeLessThan(0.7);
  },
);

it("[S4.27] of small bodies none waits for a large one", async () => {
  const parse = pausingParser();
  const large = Promise.all([1, 2, 3].map((part) => parse("a", manyNames(part * 100_000), json, body)));
  let isOver = false;
  void large.then(() => {
    isOver = true;
  });
  await parse("a", Buffer.from('{"name":"x"}'), json, body);
  expect(isOver).toBe(false);
  await large;
});
