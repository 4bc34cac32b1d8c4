import { fileURLToPath } from "node:url";
import { defineWork, enqueueWork, json, nothing } from "@tessera/kit/jobs/work";
import { workOn } from "@tessera/kit/jobs/work-on";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { roleOf } from "@tessera/kit/pg/provision";
import { sql } from "@tessera/kit/pg/sql";
import { eventually } from "./eventually.ts";
import { quiet } from "./fact-pipeline.ts";
import { startTestWorkers } from "./finish-work.ts";

/** The program: a test kills and restarts it until all work is done. */
export const crashingProgram = fileURLToPath(import.meta.url);

const work = defineWork("crashing", {
  payload: json<number>(),
  result: nothing,
  leaseMs: 250,
  tries: 1000,
  keepMs: 60_000,
  atOnce: 4,
});

/** Enqueues work for three owners. Each piece makes one row in `effect`, and one in `step` for every try that reached its step. */
export async function prepareCrashing({ db, total }: { db: Db; total: number }): Promise<void> {
  await db.run(sql`create table effect (number integer not null)`);
  await db.run(sql`create table step (number integer not null)`);
  const numbers = Array.from({ length: total }, (_, index) => index);
  await db.transaction((tx) =>
    enqueueWork(
      tx,
      work,
      numbers.map((number) => ({ id: `${number}`, owner: `owner ${number % 3}`, payload: number })),
    ),
  );
}

/** Whether some work has not ended. */
export async function isWorkLeft(db: Db): Promise<boolean> {
  return (await db.maybeOne(sql`select from work where work.state in ('waiting', 'running') limit 1`)) !== undefined;
}

const noteStepAndEffect = workOn(work, async ({ payload, step }) => {
  await step((tx) => tx.run(sql`insert into step (number) values (${payload})`));
  return async (tx) => {
    await tx.run(sql`insert into effect (number) values (${payload})`);
  };
});

async function run(url: string): Promise<void> {
  const db = openDatabase({ url, schema: "owner", role: roleOf("owner"), applicationName: "crashing", log: quiet });
  const workers = startTestWorkers(db, [noteStepAndEffect({})]);
  await eventually(async () => !(await isWorkLeft(db)));
  await workers.stop();
  await db.close();
}

if (process.argv[1] === crashingProgram) await run(process.env["DATABASE_URL"] ?? "");
