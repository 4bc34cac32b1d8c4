import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { readCopy, readEntities } from "@tessera/testkit/copied-entities";
import { crashingProgram, prepareCrashing } from "@tessera/testkit/crashing-operators";
import type { TestDatabase } from "@tessera/testkit/database";
import { createFactDatabase } from "@tessera/testkit/fact-database";
import { effectsByKey, isDrained } from "@tessera/testkit/fact-pipeline";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Db } from "../pg/database.ts";
import { sql } from "../pg/sql.ts";

const entities = 2000;
const parked = 700;

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

it("a rebuild and replays come to their end, once, through a process that is killed again and again", async () => {
  const [owner, reader] = [database.open("owner"), database.open("reader")];
  await prepareCrashing({ owner, reader, entities, parked });
  const progress: string[] = [];
  let code: number | null = null;
  // A machine so slow that a process comes to nothing gives the next one longer.
  for (let livesMs = 150, kills = 0; code === null && kills < mostKills; kills += 1) {
    const { child, exited } = await startProgram(database.url);
    await Promise.race([sleep(Math.random() * livesMs), exited]);
    child.kill("SIGKILL");
    code = await exited;
    progress.push(await progressOf(owner, reader));
    if (progress.at(-1) === progress.at(-2)) livesMs *= 1.2;
  }
  // Otherwise the kills hit a process that had nothing left to do, or none that had begun.
  expect(new Set(progress).size).toBeGreaterThan(3);
  if (code === null) code = await (await startProgram(database.url)).exited;
  expect(code).toBe(0);

  expect(await readCopy(reader)).toEqual(await readEntities(owner));
  const rebuild = sql`select finished_at is not null as finished, cause from rebuild`;
  expect(await owner.many(rebuild)).toEqual([{ finished: true, cause: null }]);
  expect(await reader.many(sql`select key, cause from dead_letter`)).toEqual([]);
  expect(await isDrained(owner)).toBe(true);
  const byKey = await effectsByKey(reader);
  expect(Object.values(byKey).flat()).toHaveLength(parked);
  for (const [key, numbers] of Object.entries(byKey)) {
    const all = Array.from({ length: parked }, (_, index) => index + 1);
    expect(numbers).toEqual(all.filter((number) => key === `key ${number % 7}`));
  }
});

async function progressOf(owner: Db, reader: Db): Promise<string> {
  const { written } = await owner.one<{ written: number }>(sql`select written from rebuild`);
  const { left } = await reader.one<{ left: number }>(sql`select count(*) as left from dead_letter`);
  return `${written} written, ${left} to replay`;
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
