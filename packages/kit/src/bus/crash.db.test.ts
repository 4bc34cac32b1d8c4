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
const mostKills = 20;

const children: ChildProcess[] = [];
let database: TestDatabase;

beforeEach(async () => {
  database = await createFactDatabase();
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await database.drop();
});

it("facts act exactly once, in order, through a process that is killed again and again", async () => {
  const [owner, reader] = [database.open("owner"), database.open("reader")];
  await prepareCrashing({ owner, total });
  const progress: number[] = [0];
  let kills = 0;
  let code: number | null = null;
  // A machine so slow that a process comes to nothing gives the next one longer.
  for (let livesMs = 120; code === null && kills < mostKills; ) {
    const { child, exited } = await startProgram(database.url);
    await Promise.race([sleep(Math.random() * livesMs), exited]);
    child.kill("SIGKILL");
    code = await exited;
    kills += 1;
    progress.push(await countOf(reader));
    if (progress.at(-1) === progress.at(-2)) livesMs *= 1.2;
  }
  // Otherwise the kills hit a process that had nothing left to do, or none that had begun.
  expect(progress[5]).toBeLessThan(total);
  expect(new Set(progress).size).toBeGreaterThan(3);
  if (code === null) code = await (await startProgram(database.url)).exited;
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

async function startProgram(url: string): Promise<{ child: ChildProcess; exited: Promise<number | null> }> {
  const child = spawn(process.execPath, ["--conditions=source", crashingProgram], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const exited = once(child, "exit").then(([code]) => code as number | null);
  await Promise.race([once(child.stdout, "data"), exited]);
  return { child, exited };
}
