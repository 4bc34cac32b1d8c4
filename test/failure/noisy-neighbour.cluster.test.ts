import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FestivalCluster, startFestivalCluster } from "./festival-cluster.ts";
import { noises } from "./make-noise.ts";
import { measureBeside } from "./measure-beside.ts";
import { visit } from "./neighbour.ts";
import { noisyRecords } from "./noisy-records.ts";

let cluster: FestivalCluster;

beforeAll(async () => {
  cluster = await startFestivalCluster({ records: noisyRecords() });
  const { baseUrls, festival } = cluster;
  await visit({ baseUrls, festival, ms: 3000 });
});

afterAll(() => cluster?.stop());

// What is measured in seconds, a busy machine disturbs in one of many tries. Neighbours that share a fate fail each time.
describe("in many processes, an organizer beside one that does its worst", { retry: 3 }, () => {
  it.each(noises)("[S4.40] hardly notices it: %s", { timeout: 60_000 }, async (noise) => {
    const { baseUrls, festival } = cluster;
    // All processes, their database and Kafka share the processors of one machine.
    const measured = await measureBeside({ noise, baseUrls, festival, volume: 0.2 });
    expect(measured.refused).toEqual([]);
    expect(measured.ofLimit).toBeLessThan(1);
    expect(measured.shots).toBeGreaterThan(10);
    expect(cluster.loggedErrors()).toEqual([]);
  });
});
