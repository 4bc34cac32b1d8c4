import { named, twoSchemas } from "@tessera/testkit/two-schemas";
import { describe, expect, it } from "vitest";
import { runInContext } from "../context.ts";
import { outboxRows } from "./outbox.ts";
import { sql } from "./sql.ts";

const { open } = twoSchemas();

describe("the outbox", () => {
  const rows = sql`select topic, key, payload, traceparent from outbox order by id`;

  it("holds facts in their order, with the trace that caused them, and tombstones", async () => {
    const db = open();
    await db.run(sql`delete from outbox`);
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const facts = Array.from({ length: 300 }, (_, value) => ({ key: `${(value * 7) % 300} 🎟`, value }));
    await runInContext({ traceparent }, () => db.transaction((tx) => tx.publish(named, facts)));
    await db.transaction(async (tx) => {
      await tx.retract(named, ["gone", "gone too"]);
      await tx.publish(named, []);
      await tx.retract(named, []);
    });
    const written = await db.many<{ key: string; payload: Buffer | null; traceparent: string | null }>(rows);
    expect(written).toHaveLength(302);
    expect(written.slice(0, 300).map(({ payload }) => named.decode(payload ?? Buffer.alloc(0)))).toEqual(facts);
    expect(new Set(written.slice(0, 300).map((row) => row.traceparent))).toEqual(new Set([traceparent]));
    expect(written.slice(300)).toEqual(
      ["gone", "gone too"].map((key) => ({ topic: named.name, key, payload: null, traceparent: null })),
    );
  });

  it("dates a deletion to when it is written, however long its transaction has waited, and a state to the transaction", async () => {
    const db = open();
    await db.run(sql`delete from outbox`);
    const { begin, waited } = await db.transaction(async (tx) => {
      const times = await tx.one<{ begin: number; waited: number }>(sql`
        select now() as begin, clock_timestamp() as waited from pg_sleep(0.05)`);
      await tx.publish(named, [{ key: "state", value: 1 }]);
      await tx.retract(named, ["gone"]);
      return times;
    });
    const [state, deletion] = await db.many<{ at: number }>(sql`select created_at as at from outbox order by id`);
    expect(state?.at).toBe(begin);
    expect(deletion?.at).toBeGreaterThanOrEqual(waited);
  });

  it("is announced after the commit, and only then", async () => {
    const db = open();
    await db.run(sql`delete from outbox`);
    const seen: number[] = [];
    const heard = Promise.withResolvers<void>();
    db.onOutbox(() => {
      void db.many(rows).then((all) => {
        seen.push(all.length);
        heard.resolve();
      });
    });
    const failing = db.transaction(async (tx) => {
      await tx.publish(named, [{ key: "a", value: 1 }]);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    await db.transaction((tx) => tx.run(sql`select 1`));
    await db.transaction((tx) => tx.publish(named, [{ key: "a", value: 1 }]));
    await heard.promise;
    expect(seen).toEqual([1]);
  });

  it("is announced for rows inside of another statement too, in a transaction or not", async () => {
    const db = open();
    await db.run(sql`delete from outbox`);
    let announced = 0;
    db.onOutbox(() => {
      announced += 1;
    });
    const facts = ["a", "b", "c"].map((key) => ({ key, payload: Buffer.from(key) }));
    const within = (chosen: number) => sql`
      with chosen as (
        select ${chosen}::bigint as ord
      ), published as (
        ${outboxRows("t", facts, { among: sql`join chosen on chosen.ord = fact.ord` })}
      )
      select chosen.ord from chosen`;
    expect(await db.many(within(2))).toEqual([{ ord: 2 }]);
    expect(announced).toBe(1);
    await db.transaction((tx) => tx.many(within(3)));
    expect(announced).toBe(2);
    // Prepared by now, and known by its name.
    await db.many(within(1));
    expect(announced).toBe(3);
    expect(await db.many(rows)).toMatchObject([{ key: "b" }, { key: "c" }, { key: "a" }]);
    await db.run(sql`select count(*) from outbox`);
    expect(announced).toBe(3);
  });
});
