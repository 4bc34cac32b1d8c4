import { expect, it } from "vitest";
import { BroughtEntities } from "./brought-entities.ts";

const entity = (kind: string, key: string, { names = [] as string[], event = "e", organizer = "o" } = {}) => {
  return { kind, organizer, event, key, names, data: "{}" };
};
const record = (data: object, { kind = "order", organizer = "o", event = "e" } = {}) => {
  return { line: 1, kind, organizer, event, deleted: false, data: Buffer.from(JSON.stringify(data)) };
};
const keysFor = async (entities: BroughtEntities, ...records: ReturnType<typeof record>[]) =>
  (await entities.findFor(records)).map(({ key }) => key);

it("[R7.19] comes back to the records that name it, in the order of the stream", async () => {
  const entities = new BroughtEntities();
  for (const key of ["3", "1", "2"]) entities.add(entity("item", key));
  entities.add(entity("seat", "9", { names: ["A-1"] }));
  entities.add(entity("item", "3"));
  expect(await keysFor(entities, record({ positions: [{ item: 2, seat: "a-1 " }, { item: 3 }] }))).toEqual([
    "2",
    "9",
    "3",
  ]);
  expect(await keysFor(entities, record({ positions: [] }))).toEqual([]);
});

it("[R7.19] is of the organizer and event of the record, or of any event where that belongs to the organizer", async () => {
  const entities = new BroughtEntities();
  entities.add(entity("item", "1", { event: "other" }));
  entities.add(entity("item", "1", { organizer: "another" }));
  entities.add(entity("event", "e", { event: "" }));
  entities.add(entity("organizer", "o", { event: "" }));
  expect(await keysFor(entities, record({ item: 1 }))).toEqual(["e", "o"]);
  expect(await keysFor(entities, record({ position: 1 }, { kind: "reusable_medium", event: "" }))).toEqual(["1", "o"]);
});

it("[R7.19] comes to all records of a kind that it names", async () => {
  const entities = new BroughtEntities();
  entities.add(entity("question", "1", { names: ["question"] }));
  expect(await keysFor(entities, record({ id: 2 }, { kind: "question" }))).toEqual(["1"]);
});

it("[R7.21] of many of a kind forgets the first ones, and none of another kind", async () => {
  const entities = new BroughtEntities({ mostOfKind: 2 });
  entities.add(entity("item", "1"));
  for (const key of ["A", "B", "A", "C"]) entities.add(entity("order", key, { names: ["1", `of ${key}`] }));
  expect(await keysFor(entities, record({ all: ["1", "of A", "of B", "of C"] }))).toEqual(["1", "A", "C"]);
});

it("[R7.19] is found by names of all forms in JSON, however long the texts beside them are", async () => {
  const entities = new BroughtEntities();
  for (const key of ["-5", "7", 'a"b', "a\\", "ü", "true"]) entities.add(entity("seat", key));
  const long = "x".repeat(100_000);
  const found = await keysFor(
    entities,
    record({ a: [-5, 7.0], b: 'a"b', c: ["a\\", long, { d: "Ü" }], e: true, f: null }),
  );
  expect(found).toEqual(["-5", "7", 'a"b', "a\\", "ü"]);
});
