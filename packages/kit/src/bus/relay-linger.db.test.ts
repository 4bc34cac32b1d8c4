import { setTimeout as sleep } from "node:timers/promises";
import { type EmptiedDatabase, factDatabaseOfFile } from "@tessera/testkit/fact-database";
import { eventually, isDrained, numberedTopic, quiet } from "@tessera/testkit/fact-pipeline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Db } from "../pg/database.ts";
import type { Bus } from "./bus.ts";
import { type Relay, startRelay } from "./relay.ts";

const topic = numberedTopic("owner.first.v1");

const emptyDatabase = await factDatabaseOfFile();
let database: EmptiedDatabase;
let owner: Db;
let relay: Relay | undefined;

beforeEach(async () => {
  database = await emptyDatabase();
  owner = database.open("owner");
});

afterEach(async () => {
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

interface Publication {
  /** When it began, on the clock of `performance.now()`. */
  readonly at: number;
  readonly numbers: readonly number[];
}

/** Starts a relay to a bus whose publications take so long, and notes them. */
function relayTo({ tookMs, ...options }: { tookMs: number; lanes?: number; batchSize?: number }): Publication[] {
  const publications: Publication[] = [];
  const { lanes, batchSize } = options;
  const bus: Bus = {
    ...(lanes === undefined ? {} : { lanes }),
    async publish(_topic, messages) {
      const numbers = messages.flatMap(({ value }) => (value === null ? [] : [topic.decode(value).number]));
      publications.push({ at: performance.now(), numbers });
      if (tookMs > 0) await sleep(tookMs);
    },
    subscribe: async () => {},
    partitions: async () => 1,
    backlog: async () => [],
    close: async () => {},
  };
  relay = startRelay({ db: owner, bus, log: quiet, ...(batchSize === undefined ? {} : { batchSize }) });
  return publications;
}

/** Publishes one fact after the other until there were so many publications, and sees each arrive once and in order. */
async function publishInto(publications: readonly Publication[], count: number): Promise<void> {
  let sent = 0;
  while (publications.length < count) {
    sent += 1;
    await publish([sent]);
    // Slow enough for no batch to be full.
    await sleep(2);
  }
  await eventually(() => isDrained(owner));
  expect(publications.flatMap(({ numbers }) => numbers)).toEqual(upTo(sent));
}

/** The times between the beginnings of publications. Before the second one the relay may not know how long one takes. */
const gaps = (publications: readonly Publication[]) =>
  publications.slice(2).map(({ at }, index) => at - (publications[index + 1]?.at ?? 0));

const usual = (times: readonly number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];

// A busy machine holds up one or the other: the usual gap tells that the relay waits, and the shortest how long at most.
describe("a relay with few facts at a time", () => {
  it("lingers for 20 ms on a bus that publishes at once", async () => {
    const publications = relayTo({ tookMs: 0 });
    await publishInto(publications, 20);
    expect(usual(gaps(publications))).toBeGreaterThan(15);
    expect(Math.min(...gaps(publications))).toBeLessThan(100);
  });

  it("lingers for ten times as long as a publication took", async () => {
    const publications = relayTo({ tookMs: 9 });
    await publishInto(publications, 10);
    expect(usual(gaps(publications))).toBeGreaterThan(70);
  });

  it("lingers for 150 ms at most, however long a publication took", async () => {
    const publications = relayTo({ tookMs: 60 });
    await publishInto(publications, 8);
    expect(usual(gaps(publications))).toBeGreaterThan(130);
    expect(Math.min(...gaps(publications))).toBeLessThan(300);
  });

  it("lingers for 20 ms on a bus with lanes, where a publication lasts until its consumers are done", async () => {
    const publications = relayTo({ tookMs: 30, lanes: 8 });
    await publishInto(publications, 10);
    expect(usual(gaps(publications))).toBeGreaterThan(15);
    expect(Math.min(...gaps(publications))).toBeLessThan(100);
  });

  it("publishes a single fact at once, also on a slow bus", async () => {
    const publications = relayTo({ tookMs: 60 });
    const took: number[] = [];
    for (const number of upTo(6)) {
      const written = performance.now();
      await publish([number]);
      await eventually(async () => publications.length === number);
      took.push((publications.at(-1)?.at ?? 0) - written);
      // Longer than the relay lingers after the one before.
      await sleep(300);
    }
    expect(Math.min(...took)).toBeLessThan(100);
  });
});

it("a relay with more facts than a batch takes does not wait between batches, also on a slow bus", async () => {
  await publish(upTo(30));
  const publications = relayTo({ tookMs: 30, batchSize: 5 });
  await eventually(() => isDrained(owner));
  expect(publications.map(({ numbers }) => numbers.length)).toEqual([5, 5, 5, 5, 5, 5]);
  expect(publications.flatMap(({ numbers }) => numbers)).toEqual(upTo(30));
  expect(Math.min(...gaps(publications))).toBeLessThan(100);
});
