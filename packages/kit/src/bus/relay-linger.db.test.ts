import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@tessera/testkit/eventually";
import { type EmptiedDatabase, factDatabaseOfFile } from "@tessera/testkit/fact-database";
import { isDrained, numberedTopic, quiet } from "@tessera/testkit/fact-pipeline";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Db } from "../pg/database.ts";
import type { Bus } from "./bus.ts";
import { nothingErased } from "./dead-letter.ts";
import { type Relay, startRelay } from "./relay.ts";

const topic = numberedTopic("owner.first.v1");

const emptyDatabase = await factDatabaseOfFile();
let database: EmptiedDatabase;
let owner: Db;
let relay: Relay | undefined;

beforeEach(async () => {
  database = await emptyDatabase();
  owner = database.open("owner");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});

afterEach(async () => {
  vi.useRealTimers();
  await relay?.stop();
  relay = undefined;
  await database.close();
});

const publish = (numbers: readonly number[]) =>
  owner.transaction((tx) =>
    tx.publish(
      topic,
      numbers.map((number) => ({ key: "k", number })),
    ),
  );

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

/** Waits for all facts to be published, while only timers run that are due. */
const untilDrained = () =>
  eventually(() => {
    vi.advanceTimersByTime(0);
    return isDrained(owner);
  });

/** Starts a relay to a bus whose publications take so long, and notes their numbers. */
function relayTo({ tookMs, ...options }: { tookMs: number; lanes?: number; batchSize?: number }): number[][] {
  const publications: number[][] = [];
  const { lanes, batchSize } = options;
  const bus: Bus = {
    ...(lanes === undefined ? {} : { lanes }),
    async publish(_topic, messages) {
      publications.push(messages.flatMap(({ value }) => (value === null ? [] : [topic.decode(value).number])));
      vi.advanceTimersByTime(tookMs);
    },
    subscribe: async () => {},
    partitions: async () => 1,
    backlog: async () => [],
    close: async () => {},
  };
  relay = startRelay({
    db: owner,
    bus,
    log: quiet,
    isErased: nothingErased,
    ...(batchSize === undefined ? {} : { batchSize }),
  });
  return publications;
}

// The clock of the relay moves in these tests alone, however busy the machine is.
describe("a relay with few facts at a time", () => {
  it.each([
    ["20 ms on a bus that publishes at once", { tookMs: 0 }, 20],
    ["ten times as long as a publication took", { tookMs: 9 }, 90],
    ["150 ms at most, however long a publication took", { tookMs: 60 }, 150],
    ["20 ms on a bus with lanes, where a publication lasts until its consumers are done", { tookMs: 9, lanes: 8 }, 20],
  ])("lingers for %s", async (_name, options, lingerMs) => {
    const publications = relayTo(options);
    await publish([1]);
    await eventually(async () => publications.length === 1);
    await publish([2]);
    await publish([3]);
    vi.advanceTimersByTime(lingerMs - options.tookMs - 1);
    await sleep(100);
    expect(publications).toEqual([[1]]);
    vi.advanceTimersByTime(1);
    await untilDrained();
    expect(publications).toEqual([[1], [2, 3]]);
  });

  it("publishes a single fact at once, also on a slow bus", async () => {
    const publications = relayTo({ tookMs: 60 });
    for (const number of upTo(6)) {
      await publish([number]);
      await untilDrained();
      // As long as the relay lingers after it.
      vi.advanceTimersByTime(90);
    }
    expect(publications).toEqual(upTo(6).map((number) => [number]));
  });
});

it("a relay with more facts than a batch takes does not wait between batches, also on a slow bus", async () => {
  await publish(upTo(30));
  const publications = relayTo({ tookMs: 30, batchSize: 5 });
  await untilDrained();
  expect(publications.map((numbers) => numbers.length)).toEqual([5, 5, 5, 5, 5, 5]);
  expect(publications.flat()).toEqual(upTo(30));
});
