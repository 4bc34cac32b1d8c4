import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { crashingProgram, prepareCrashing } from "@tessera/testkit/crashing-facts";
import type { TestDatabase } from "@tessera/testkit/database";
import { createFactDatabase } from "@tessera/testkit/fact-database";
import { effectsByKey, isDrained } from "@tessera/testkit/fact-pipeline";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Db } from "../pg/database.ts";
import { sql } from "../pg/sql.ts";

const total = 5000;

/** How often the process is killed; after that it may finish. */
const kills = 20;

const children: ChildProcess[] = [];
let database: TestDatabase;

beforeEach(async () => {
  database = await createFactDatabase();
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await database.drop();
});

it("facts act exactly once, in order, through a process that is killed again and again", {
  timeout: 40_000,
}, async () => {
  const [owner, reader] = [database.open("owner"), database.open("reader")];
  await prepareCrashing({ owner, total });
  const progress: number[] = [];
  for (let killed = 0; killed < kills; killed += 1) {
    const child = await startProgram(database.url);
    await sleep(10 + Math.random() * 300);
    child.kill("SIGKILL");
    await once(child, "exit");
    progress.push(await countOf(reader));
  }
  // Otherwise the kills hit a process that had nothing to do, or one that never came to anything.
  expect(progress[2]).toBeLessThan(total);
  expect(new Set(progress).size).toBeGreaterThan(3);
  const last = await startProgram(database.url);
  const [code] = (await once(last, "exit")) as [number | null];
  expect(code).toBe(0);
  for (const db of [reader, owner]) {
    const byKey = await effectsByKey(db);
    expect(Object.values(byKey).flat()).toHaveLength(total);
    for (const [key, numbers] of Object.entries(byKey)) {
      const expected = Array.from({ length: total }, (_, index) => index + 1).filter(
        (number) => key === `key ${number % 7}`,
      );
      expect(numbers).toEqual(expected);
    }
    expect(await isDrained(db)).toBe(true);
    expect(await db.many(sql`select cause from dead_letter`)).toEqual([]);
  }
});

async function countOf(db: Db): Promise<number> {
  return (await db.one<{ count: number }>(sql`select count(*) as count from effect`)).count;
}

async function startProgram(url: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ["--conditions=source", crashingProgram], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  await once(child.stdout, "data");
  return child;
}
