import { inProcess } from "@tessera/engines/grpc/in-process";
import { FactsServiceService } from "@tessera/protos/gen/platform/v1/facts";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, implement } from "../rpc.ts";
import { createLog } from "../telemetry/log.ts";
import type { Db, Dedicated } from "./database.ts";
import { roleOf } from "./provision.ts";
import { openReads, type Reads } from "./reads.ts";
import { sql } from "./sql.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });

let database: TestDatabase;
let db: Db;
let reads: Reads;
let stopper: Dedicated;

beforeAll(async () => {
  // A folder without .sql files: the schema has what the kit itself needs, and nothing else.
  database = await createTestDatabase([{ schema: "alpha", migrations: new URL("./", import.meta.url) }]);
  db = database.open("alpha");
  reads = openReads({ url: database.url, schema: "alpha", role: roleOf("alpha"), applicationName: "alpha", log });
  stopper = await db.dedicated();
});
afterAll(async () => {
  await stopper.release();
  await reads.close();
  await database.drop();
});

/** Has every read that asks for it wait. */
async function block(): Promise<() => Promise<unknown>> {
  await stopper.run(sql`select pg_advisory_lock(7)`);
  return () => stopper.run(sql`select pg_advisory_unlock(7)`);
}
const slowRead = sql`select pg_advisory_xact_lock_shared(7)`;

/** A read of one of two parties, which together have all turns. */
const read = <T>(index: number, work: (db: Db) => Promise<T>) => reads.inTurn(["a", "b"][index % 2] ?? "", work);

const connections = async () =>
  (
    await db.one<{ open: number }>(sql`
      select count(*) as open
        from pg_stat_activity
       where pg_stat_activity.datname = current_database() and pg_stat_activity.application_name = 'alpha-reads'`)
  ).open;

describe("connections for reads", () => {
  it("are opened when they are needed, and not more than four", async () => {
    expect(await connections()).toBe(0);
    const goOn = await block();
    const slow = Array.from({ length: 6 }, (_, index) => read(index, (on) => on.run(slowRead)));
    await expect.poll(connections).toBe(4);
    await goOn();
    await Promise.all(slow);
    expect(await connections()).toBe(4);
  });

  it("write nothing, neither alone nor in a transaction", async () => {
    const insert = sql`insert into outbox (topic, key) values ('t', 'k')`;
    await expect(read(0, (on) => on.run(insert))).rejects.toMatchObject({ cause: { code: "25006" } });
    await expect(read(0, (on) => on.transaction((tx) => tx.run(insert)))).rejects.toMatchObject({
      cause: { code: "25006" },
    });
    expect(await db.many(sql`select outbox.id from outbox`)).toEqual([]);
  });

  it("end a statement while somebody still waits for its answer", async () => {
    const longest = await read(0, (on) => on.one(sql`select current_setting('statement_timeout') as longest`));
    expect(longest).toEqual({ longest: "4s" });
  });

  it("begin nothing for a caller that no longer waits, whether it has a connection or waits for one", async () => {
    const ended: Record<string, unknown> = {};
    const begin = async (name: string, work: () => Promise<unknown>) => {
      ended[name] = await work().then(
        () => "done",
        (error: unknown) => error,
      );
    };
    const network = inProcess({ log });
    network.serve("reader", [
      implement(FactsServiceService, {
        async markFacts() {
          await Promise.all([
            begin("in a transaction", () =>
              read(0, (on) =>
                on.transaction(async (tx) => {
                  await tx.run(slowRead);
                  await tx.run(sql`select 1`);
                }),
              ),
            ),
            ...[1, 2, 3, 4].map((each) => begin(`under way ${each}`, () => read(each, (on) => on.run(slowRead)))),
            begin("in the queue", () => read(0, (on) => on.run(sql`select 1`))),
          ]);
          await begin("afterwards", () => read(0, (on) => on.run(sql`select 1`)));
          await begin("a write", () => db.run(sql`insert into outbox (topic, key) values ('t', 'k')`));
          return { marker: "", partitions: [] };
        },
        caughtUp: async () => ({ caughtUp: true }),
      }),
    ]);
    const goOn = await block();
    const reader = connect(FactsServiceService, network.transportTo("reader"));
    await expect(reader.markFacts({}, { timeoutMs: 300 })).rejects.toMatchObject({ kind: "timeout" });
    await goOn();
    await expect.poll(() => Object.keys(ended)).toHaveLength(8);
    const gone = expect.objectContaining({ kind: "timeout", code: "deadline_exceeded" });
    expect(ended).toEqual({
      "in a transaction": gone,
      "under way 1": "done",
      "under way 2": "done",
      "under way 3": "done",
      "under way 4": gone,
      "in the queue": gone,
      afterwards: gone,
      "a write": "done",
    });
    expect(await read(0, (on) => on.one(sql`select 1 as value`))).toEqual({ value: 1 });
  });

  it("[S4.30] are shared: a party has half of them, and its queue refuses its own reads alone", async () => {
    const goOn = await block();
    const many = Array.from({ length: 203 }, () =>
      reads
        .inTurn("greedy", (on) => on.run(slowRead))
        .then(
          () => "done",
          (error: unknown) => error,
        ),
    );
    const small = reads.inTurn("modest", (on) => on.one(sql`select 1 as value`));
    expect(await small).toEqual({ value: 1 });
    expect(await many.at(-1)).toMatchObject({ kind: "exhausted", code: "too_many_reads" });
    const waiting = async () =>
      (
        await db.one<{ reads: number }>(sql`
          select count(*) as reads
            from pg_locks
           where pg_locks.locktype = 'advisory' and not pg_locks.granted
             and pg_locks.database = (select oid from pg_database where datname = current_database())`)
      ).reads;
    await expect.poll(waiting).toBe(2);
    await goOn();
    expect((await Promise.all(many)).filter((end) => end === "done")).toHaveLength(202);
  });

  it("see one state in a transaction, plan each statement for its values, and take one core each", async () => {
    await db.run(sql`create table seen (value bigint)`);
    await read(0, (on) =>
      on.transaction(async (tx) => {
        const count = sql`select count(*) as seen from seen`;
        const before = await tx.one(count);
        await db.run(sql`insert into seen (value) values (1)`);
        expect(await tx.one(count)).toEqual(before);
      }),
    );
    const settings = sql`
      select current_setting('plan_cache_mode') as plans, current_setting('max_parallel_workers_per_gather') as workers`;
    expect(await read(0, (on) => on.one(settings))).toEqual({ plans: "force_custom_plan", workers: "0" });
    expect(await db.one(settings)).toEqual({ plans: "force_generic_plan", workers: "0" });
  });
});
