import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, beforeAll, expect, it } from "vitest";
import { toByteaArray, toTextArray } from "./binary-array.ts";
import { sql } from "./sql.ts";

let database: TestDatabase;

beforeAll(async () => {
  // A folder without .sql files: the schema has what the kit itself needs, and nothing else.
  const migrations = new URL("./", import.meta.url);
  database = await createTestDatabase([{ schema: "alpha", migrations }]);
});

afterAll(() => database.drop());

it.each([
  ["nothing", []],
  ["bytes", [Uint8Array.of(0, 255, 92), new Uint8Array(), Uint8Array.of(34)]],
  ["missing elements", [null, Uint8Array.of(1), null]],
  ["a part of a larger buffer", [Uint8Array.of(1, 2, 3, 4).subarray(1, 3)]],
])("writes %s as the server reads it", async (_name, elements) => {
  const rows = await database.open("alpha").many<{ element: Buffer | null }>(sql`
    select row.element from unnest(${toByteaArray(elements)}::bytea[]) as row (element)`);
  expect(rows.map(({ element }) => (element === null ? null : [...element]))).toEqual(
    elements.map((element) => (element === null ? null : [...element])),
  );
});

it.each([
  ["nothing", []],
  ["texts", ["", "a", 'a "quoted" \\ text, {with} NULL', "NULL", "é€😀", "\n\t"]],
  ["missing elements", [null, "NULL", null]],
  ["half of a surrogate pair as the server would read it in a text", ["\ud800"]],
])("writes %s as the server reads them", async (_name, elements) => {
  const db = database.open("alpha");
  const read = (array: unknown) =>
    db.many<{ element: string | null }>(sql`select row.element from unnest(${array}::text[]) as row (element)`);
  expect(await read(toTextArray(elements))).toEqual(await read(elements));
});
