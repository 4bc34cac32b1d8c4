import type { Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { describe, expect, it } from "vitest";
import { boxofficeDatabase } from "../testing/database.ts";
import { type IdSequence, raise, shareSequences } from "./id-sequences.ts";

const { db } = await boxofficeDatabase();

async function next(tx: Tx, sequence: IdSequence): Promise<number> {
  const draw = () => tx.one<{ id: number }>(sql`select nextval(${sequence}::text::regclass) as id`);
  return (await shareSequences(tx, draw)).id;
}

describe("ids of a sequence", () => {
  it("are drawn once each, however often imports raise it meanwhile to what is being drawn", async () => {
    const drawn: number[] = [];
    let drawing = 3;
    const draw = async () => {
      for (let count = 0; count < 100; count += 1) {
        // Many at a time, so that a raise meets transactions that draw.
        const ids = await db.transaction((tx) =>
          shareSequences(tx, () =>
            tx.many<{ id: number }>(sql`select nextval('device_id_seq') as id from generate_series(1, 200)`),
          ),
        );
        drawn.push(...ids.map(({ id }) => id));
      }
      drawing -= 1;
    };
    let raises = 0;
    const raiseAgain = async () => {
      for (; drawing > 0; raises += 1) {
        const { last } = await db.one<{ last: number }>(sql`select last_value as last from device_id_seq`);
        await db.transaction((tx) => raise(tx, new Map([["device_id_seq", last + 150]])));
      }
    };
    await Promise.all([draw(), draw(), draw(), raiseAgain(), raiseAgain(), raiseAgain()]);
    expect(raises).toBeGreaterThan(50);
    expect(drawn.length - new Set(drawn).size).toBe(0);
  });

  it("are drawn by no transaction while a sequence is raised", async () => {
    const other = await db.dedicated();
    await other.one(sql`select pg_advisory_lock(hashtextextended('boxoffice id sequences', 0))::text`);
    let id: number | undefined;
    const drawing = db.transaction(async (tx) => {
      id = await next(tx, "gate_id_seq");
    });
    await expect
      .poll(() =>
        db.many(sql`
          select pid
            from pg_locks
           where locktype = 'advisory'
             and not granted
             and database = (select oid from pg_database where datname = current_database())`),
      )
      .toHaveLength(1);
    expect(id).toBeUndefined();
    await other.one(sql`select setval('gate_id_seq', 500)`);
    await other.release();
    await drawing;
    expect(id).toBe(501);
  });

  it("can be drawn by two transactions that then both raise the sequence, and keep what they wrote", async () => {
    const organizers = () => db.many<{ slug: string }>(sql`select slug from organizer order by slug`);
    const haveDrawn = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    const work = (mine: 0 | 1) =>
      db.transaction(async (tx) => {
        await tx.run(
          sql`insert into organizer (slug, data, revision) values (${`org-${mine}`}, '{}', nextval('revision_seq'))`,
        );
        const id = await next(tx, "seat_id_seq");
        haveDrawn[mine].resolve();
        await haveDrawn[1 - mine]?.promise;
        await raise(tx, new Map([["seat_id_seq", id + 100]]));
        return id;
      });
    const ids = await Promise.all([work(0), work(1)]);
    expect(new Set(ids).size).toBe(2);
    expect(await organizers()).toEqual([{ slug: "org-0" }, { slug: "org-1" }]);
    expect(await db.one(sql`select nextval('seat_id_seq') as id`)).toEqual({ id: Math.max(...ids) + 101 });
  });
});
