import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openCursors } from "./cursors.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase([
    { schema: "checkin", migrations: new URL("../../../migrations/", import.meta.url) },
  ]);
});
afterAll(() => database.drop());

describe("[C2.32] cursors", () => {
  const beside = { isBefore: true, place: ["Ann 🎫", null, 7, false] };

  it("of one process are opened by all others, also where all of them start at once", async () => {
    const processes = Array.from({ length: 6 }, () => openCursors({ db: database.open("checkin") }));
    const sealed = await Promise.all(processes.map((cursors) => cursors.seal(beside, "use")));
    expect(new Set(sealed).size).toBe(1);
    for (const cursors of processes) expect(await cursors.open(sealed[0] ?? "", "use")).toEqual(beside);
    expect(await processes[0]?.open(sealed[0] ?? "", "another use")).toBeUndefined();
  });

  it("are made of every place that fits, and of no longer one", async () => {
    const cursors = openCursors({ db: database.open("checkin") });
    for (const name of ["", "\u0001", "名".repeat(490)]) {
      const place = { isBefore: false, place: [name, 1] };
      expect(await cursors.open((await cursors.seal(place, "use")) ?? "", "use")).toEqual(place);
    }
    expect(await cursors.seal({ isBefore: false, place: ["名".repeat(500)] }, "use")).toBeUndefined();
  });
});
