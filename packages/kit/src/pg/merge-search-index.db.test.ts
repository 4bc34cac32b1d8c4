import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Db } from "./database.ts";
import { mergeSearchIndex } from "./merge-search-index.ts";
import { sql } from "./sql.ts";

let database: TestDatabase;
let db: Db;

beforeAll(async () => {
  database = await createTestDatabase([{ schema: "alpha", migrations: new URL("./", import.meta.url) }]);
  db = database.open("alpha");
  await db.run(sql`create table note (text text not null)`);
  await db.run(sql`create index note_by_text on note using gin (text gin_trgm_ops)`);
});
afterAll(() => database.drop());

const waiting = async () =>
  (await db.one<{ pages: number }>(sql`select gin_clean_pending_list('note_by_text') as pages`)).pages;

describe("mergeSearchIndex", () => {
  it("leaves nothing beside the index", async () => {
    await db.run(sql`insert into note values ('Grace Hopper')`);
    await mergeSearchIndex(db, "note_by_text");
    expect(await waiting()).toBe(0);
  });

  it("is no error while another one has the index, and the next one merges", async () => {
    await db.run(sql`insert into note values ('Ada Lovelace')`);
    const done = Promise.withResolvers<void>();
    const isHeld = Promise.withResolvers<void>();
    const holding = db.transaction(async (tx) => {
      await tx.run(sql`reindex index note_by_text`);
      await tx.run(sql`insert into note values ('Alan Turing')`);
      isHeld.resolve();
      await done.promise;
    });
    await isHeld.promise;
    await mergeSearchIndex(db, "note_by_text");
    done.resolve();
    await holding;
    expect(await waiting()).toBeGreaterThan(0);
  });

  it("fails where there is no such index", async () => {
    await expect(mergeSearchIndex(db, "note_by_nothing")).rejects.toThrow("note_by_nothing");
  });
});
