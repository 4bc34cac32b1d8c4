import type { Dedicated } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { boxofficeDatabase } from "../testing/database.ts";
import { takeLocks } from "./locks.ts";

let other: Dedicated;

const { db } = await boxofficeDatabase();

beforeEach(async () => {
  other = await db.dedicated();
});

afterEach(() => other.release());

const hold = (name: string) =>
  other.one(sql`select pg_advisory_lock(hashtextextended(${`boxoffice ${name}`}, 0))::text`);

const letGo = (name: string) => other.one(sql`select pg_advisory_unlock(hashtextextended(${`boxoffice ${name}`}, 0))`);

async function isFree(name: string): Promise<boolean> {
  const { free } = await other.one<{ free: boolean }>(
    sql`select pg_try_advisory_lock(hashtextextended(${`boxoffice ${name}`}, 0)) as free`,
  );
  if (free) await letGo(name);
  return free;
}

/** Resolves when a connection waits for an advisory lock. */
const somebodyWaits = () =>
  expect
    .poll(() =>
      db.many(sql`
        select
          from pg_locks
         where pg_locks.locktype = 'advisory'
           and not pg_locks.granted
           and pg_locks.database = (select oid from pg_database where datname = current_database())`),
    )
    .toHaveLength(1);

describe("take", () => {
  it("takes locks in the order of their names", async () => {
    await hold("b");
    const taking = db.transaction((tx) =>
      takeLocks(
        tx,
        ["c", "b", "a"].map((name) => ({ name, exclusive: true })),
      ),
    );
    await somebodyWaits();
    expect(await isFree("a")).toBe(false);
    expect(await isFree("c")).toBe(true);
    await letGo("b");
    await taking;
    expect(await isFree("a")).toBe(true);
  });

  it("lets several share a lock", async () => {
    await db.transaction(async (tx) => {
      await takeLocks(tx, [{ name: "a", exclusive: false }]);
      await db.transaction((another) => takeLocks(another, [{ name: "a", exclusive: false }]));
      expect(await isFree("a")).toBe(false);
    });
  });
});
