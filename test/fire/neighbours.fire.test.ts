import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestPlatform, stopSharedPlatform } from "../e2e/test-platform.ts";
import { planFestival } from "../failure/festival.ts";
import { importUntilAnswered } from "../failure/import-until-answered.ts";
import { noises } from "../failure/make-noise.ts";
import { measureBeside, measureQuiet } from "../failure/measure-beside.ts";
import type { Seen } from "../failure/neighbour.ts";
import { noisyRecords } from "../failure/noisy-records.ts";
import { createPlatform } from "../failure/platform-process.ts";

interface Target {
  readonly baseUrls: readonly string[];
  /** The part of all noise that is made. */
  readonly volume: number;
  stop(): Promise<void>;
}

const festival = planFestival({ tickets: 400, orders: 1 });

/** A platform in one process, and another process than that of the test, which measures. */
async function startOne(): Promise<Target> {
  const platform = await createPlatform();
  await platform.start().ready;
  return { baseUrls: [platform.baseUrl], volume: 1, stop: () => platform.remove() };
}

/** All processes, their database and Kafka share the processors of one machine. */
async function startMany(): Promise<Target> {
  const { baseUrls, stop } = await startTestPlatform();
  return { baseUrls, volume: 0.2, stop };
}

afterAll(stopSharedPlatform);

// What is measured in seconds, a busy machine disturbs in one of many tries. Neighbours that share a fate fail each time.
describe.each([
  { where: "one process", start: startOne, proven: noises },
  // Only what goes on behind the gateway, to services, Kafka and their consumers: each gateway limits reads, connections and bodies
  // alone, and one process with everything in it is the harder case for them.
  { where: "many processes", start: startMany, proven: ["scans", "records"] as const },
])("in $where, an organizer beside one that does its worst", { retry: 3 }, ({ start, proven }) => {
  let target: Target;
  let measuredQuiet: Seen | undefined;

  beforeAll(async () => {
    target = await start();
    const { baseUrls } = target;
    await importUntilAnswered({ baseUrl: baseUrls[0] ?? "", body: `${festival.groundwork}\n${noisyRecords()}` });
    // The first requests are slow.
    await measureQuiet({ baseUrls, festival });
  });

  afterAll(() => target?.stop());

  it.each(proven)("[S4.40] hardly notices it: %s", async (noise) => {
    const quiet = measuredQuiet ?? (await measureQuiet({ ...target, festival }));
    // A retry measures again: the machine may have become slower.
    measuredQuiet = undefined;
    const measured = await measureBeside({ noise, quiet, festival, ...target });
    expect(measured.refused).toEqual([]);
    expect(measured.ofLimit).toBeLessThan(1);
    // Otherwise there was no noise.
    expect(measured.shots).toBeGreaterThan(5);
    measuredQuiet = quiet;
  });
});
