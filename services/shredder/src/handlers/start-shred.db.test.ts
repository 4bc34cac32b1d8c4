import { randomUUID } from "node:crypto";
import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { untilWaiting } from "@tessera/testkit/until-waiting";
import { afterAll, beforeEach, expect, it } from "vitest";
import { shredding } from "../cases/work.ts";
import { shredderDatabase } from "../testing/database.ts";
import { mine, startShredder } from "../testing/start-shredder.ts";

const { db } = await shredderDatabase();
const service = await startShredder(db);
afterAll(() => service.close());
beforeEach(() => service.reset());

/** Starts an erasure; when it is about to store its case, something else is done first. */
async function startAfter(
  exported: { readonly export: string; readonly file: string },
  change: (tx: Queryable) => Promise<unknown>,
) {
  let started: Promise<PromiseSettledResult<{ readonly case: string }>[]> | undefined;
  await db.transaction(async (tx) => {
    // Reads go on.
    await tx.run(sql`lock table shred_case in exclusive mode`);
    started = Promise.allSettled([service.shredders.startShred({ ...mine, ...exported })]);
    await untilWaiting(db);
    await change(tx);
  });
  return (await started)?.[0];
}

it("[D2.2] is not started while the event is not ready", async () => {
  const exported = await service.export();
  service.peers.problem = "It is online again.";
  await expect(service.shredders.startShred({ ...mine, ...exported })).rejects.toMatchObject({
    code: "not_shreddable",
    message: "It is online again.",
  });
  expect(await db.many(sql`select from shred_case`)).toEqual([]);
});

it.each([
  ["key", { credential: "another" }],
  ["event", { event: "another" }],
  ["organizer", { organizer: "another" }],
  ["file", { file: randomUUID() }],
])("[D5.4] an export does not exist for another %s", async (_, other) => {
  const exported = { ...mine, ...(await service.export()), ...other };
  await expect(service.shredders.findExport(exported)).rejects.toMatchObject({ code: "export_not_found" });
  await expect(service.shredders.startShred(exported)).rejects.toMatchObject({ code: "export_not_found" });
});

it("[D6.5] does not find an export that is removed at the same time", async () => {
  const exported = await service.export();
  const ended = await startAfter(exported, (tx) => tx.run(sql`delete from export`));
  expect(ended).toMatchObject({ status: "rejected", reason: { code: "export_not_found" } });
  const unknown = service.shredders.startShred({ ...mine, ...exported, export: randomUUID() });
  const message = ended?.status === "rejected" ? (ended.reason as Error).message : undefined;
  await expect(unknown).rejects.toMatchObject({ code: "export_not_found", message });
  expect(await db.many(sql`select from shred_case`)).toEqual([]);
});

it("[D6.5] starts another case when the one of its export fails at the same time", async () => {
  const exported = await service.export();
  const first = await service.shredders.startShred({ ...mine, ...exported });
  const second = await startAfter(exported, (tx) =>
    tx.run(sql`update shred_case set failed_at = now(), problem = 'It has changed.'`),
  );
  expect(second).toMatchObject({ status: "fulfilled", value: { case: expect.not.stringContaining(first.case) } });
});

it("[D6.5] starts one case for many that ask at the same time, while cases fail", async () => {
  const exported = await service.export();
  const start = () => service.shredders.startShred({ ...mine, ...exported });
  const many = () => Promise.all(Array.from({ length: 4 }, start));
  const fail = async () => {
    for (let times = 0; times < 20; times += 1)
      await db.run(sql`update shred_case set failed_at = now() where shred_case.failed_at is null`);
  };
  for (let round = 0; round < 20; round += 1) {
    await Promise.all([many(), fail()]);
    // Only so many may wait.
    await db.run(sql`delete from work where work.kind = ${shredding.kind}`);
  }
  expect(new Set((await many()).map((each) => each.case)).size).toBe(1);
  expect(await db.many(sql`select from shred_case where shred_case.failed_at is null`)).toHaveLength(1);
});
