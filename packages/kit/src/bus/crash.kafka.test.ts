import { type ChildProcess, spawn } from "node:child_process";
import { randomInt, randomUUID } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { type CrashPoint, crashPoints } from "@tessera/testkit/crash-point";
import { crashingProgram, crashingTopics, endWriting, prepareCrashing } from "@tessera/testkit/crashing-facts";
import type { TestDatabase } from "@tessera/testkit/database";
import { createKafkaTopic } from "@tessera/testkit/engines/kafka-bed";
import { kafkaOfThisRun } from "@tessera/testkit/engines/kafka-of-this-run";
import { createFactDatabase } from "@tessera/testkit/fact-database";
import { effectsByKey, isDrained } from "@tessera/testkit/fact-pipeline";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Db } from "../pg/database.ts";
import { sql } from "../pg/sql.ts";

/** More than can be written before the last crash. */
const unreachable = 1_000_000;

/** From its start to its crash: joining its groups takes as long as the sessions of the dead one. */
const longestLifeMs = 20_000;

const children: ChildProcess[] = [];
let database: TestDatabase;

beforeEach(async () => {
  database = await createFactDatabase();
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await database.drop();
});

it("facts act exactly once, in order, whatever step on their way through Kafka a process dies at", async () => {
  const prefix = `crash-${randomUUID()}.`;
  for (const topic of crashingTopics) await createKafkaTopic(kafkaOfThisRun(), `${prefix}${topic}`, { partitions: 3 });
  const [owner, reader] = [database.open("owner"), database.open("reader")];
  await prepareCrashing({ owner, total: unreachable });
  const lives: Record<string, unknown>[] = [];
  for (const point of shuffled([...crashPoints, ...crashPoints])) {
    const times = 1 + randomInt(3);
    const started = performance.now();
    const before = await countOf(reader);
    const signal = await liveUntilCrash(prefix, `${point} ${times}`);
    lives.push({ point, times, ms: Math.round(performance.now() - started), noted: (await countOf(reader)) - before });
    expect(signal, `the end of a process that dies at ${point}`).toBe("SIGKILL");
  }
  const total = await endWriting({ owner });
  const started = performance.now();
  const [code] = await once(startProgram(prefix), "exit");
  console.log(JSON.stringify({ lives, total, lastLifeMs: Math.round(performance.now() - started) }));
  expect(code).toBe(0);
  for (const db of [reader, owner]) {
    const byKey = await effectsByKey(db);
    expect(Object.values(byKey).flat()).toHaveLength(total);
    for (const [key, numbers] of Object.entries(byKey)) {
      const all = Array.from({ length: total }, (_, index) => index + 1);
      expect(numbers).toEqual(all.filter((number) => key === `key ${number % 7}`));
    }
    expect(await isDrained(db)).toBe(true);
    expect(await db.many(sql`select cause from dead_letter`)).toEqual([]);
  }
});

async function countOf(db: Db): Promise<number> {
  return (await db.one<{ count: number }>(sql`select count(*) as count from effect`)).count;
}

/** Returns the signal that ended it; undefined where it went on and on. */
async function liveUntilCrash(prefix: string, crashAt: string): Promise<NodeJS.Signals | undefined> {
  const child = startProgram(prefix, { CRASH_AT: crashAt });
  const exited = once(child, "exit").then(([, signal]) => signal as NodeJS.Signals);
  return Promise.race([exited, sleep(longestLifeMs, undefined)]);
}

function startProgram(prefix: string, environment: Record<string, string> = {}): ChildProcess {
  const child = spawn(process.execPath, ["--conditions=source", crashingProgram], {
    env: {
      ...process.env,
      DATABASE_URL: database.url,
      KAFKA_BROKERS: kafkaOfThisRun(),
      KAFKA_TOPIC_PREFIX: prefix,
      ...environment,
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  children.push(child);
  return child;
}

function shuffled(points: readonly CrashPoint[]): CrashPoint[] {
  return points
    .map((point) => ({ point, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ point }) => point);
}
