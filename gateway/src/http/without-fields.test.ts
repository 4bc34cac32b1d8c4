import { setImmediate } from "node:timers/promises";
import { longestTurn } from "@tessera/testkit/longest-turn";
import { describe, expect, it } from "vitest";
import { onlyFields, readFields, withoutFields } from "./without-fields.ts";

const shown = {
  id: 1,
  name: "Gate",
  entries: [{ id: 2, url: "x", inner: [{ a: 1, b: 2 }] }, 3, null],
  place: { id: 4, url: "y" },
};

describe("leaving out fields", () => {
  it.each([
    ["nothing", [], shown],
    ["a field", ["name"], { id: 1, entries: shown.entries, place: shown.place }],
    [
      "a field of the elements of a list",
      ["entries.url"],
      { ...shown, entries: [{ id: 2, inner: [{ a: 1, b: 2 }] }, 3, null] },
    ],
    [
      "a field further in",
      ["entries.inner.a", "entries.id"],
      { ...shown, entries: [{ url: "x", inner: [{ b: 2 }] }, 3, null] },
    ],
    ["a list and what is in it", ["entries", "entries.url"], { id: 1, name: "Gate", place: shown.place }],
    ["nothing of an object that is not in a list", ["place.url"], shown],
    ["nothing that is not there", ["nonsense", "id.x", "constructor", "entries.nonsense", ".", ""], shown],
  ])("leaves out %s", (_name, excluded, expected) => {
    expect(withoutFields(shown, readFields(excluded))).toEqual(expected);
  });
});

describe("choosing fields", () => {
  it.each([
    ["everything, if none is named", [], shown],
    ["a field", ["name"], { name: "Gate" }],
    ["a field of the elements of a list", ["id", "entries.url"], { id: 1, entries: [{ url: "x" }, 3, null] }],
    ["a field further in", ["entries.inner.b"], { entries: [{ inner: [{ b: 2 }] }, 3, null] }],
    ["a whole list, if it is named too", ["entries.url", "entries"], { entries: shown.entries }],
    ["a field of an object", ["place.url", "name"], { name: "Gate", place: { url: "y" } }],
    ["a whole object, if it is named too", ["place", "place.url"], { place: shown.place }],
    ["what has no fields", ["id.x", "entries.inner.a.x"], { id: 1, entries: [{ inner: [{ a: 1 }] }, 3, null] }],
    [
      "nothing that is not there",
      ["nonsense", "place.z", "__proto__", "constructor.name", "place.__proto__.x", ".", ""],
      { place: {} },
    ],
  ])("keeps %s", (_name, included, expected) => {
    expect(onlyFields(shown, readFields(included))).toEqual(expected);
  });
});

it("names may be as deep as a request can say", () => {
  const deep = (first: string) => readFields([`${first}${".a".repeat(3000)}`]);
  const nested = { a: [{ a: { a: 1 } }], b: 2 };
  expect(onlyFields(nested, deep("a"))).toEqual({ a: nested.a });
  expect(withoutFields(nested, deep("a"))).toEqual(nested);
});

describe("[S4.48] hundreds of names", () => {
  const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`field${at}`, at]));
  const order = { ...fields(40), positions: Array.from({ length: 20 }, () => fields(50)) };
  const page = Array.from({ length: 50 }, () => order);
  const names = Array.from({ length: 700 }, (_, at) => `positions.k${at}`);

  it.each([
    ["excluded", (named: ReturnType<typeof readFields>) => page.map((each) => withoutFields(each, named)), page],
    [
      "included",
      (named: ReturnType<typeof readFields>) => page.map((each) => onlyFields(each, named)),
      page.map(() => ({ positions: order.positions.map(() => ({})) })),
    ],
  ])("are %s without keeping others waiting", async (_how, apply, expected) => {
    let result: unknown;
    const run = async () => {
      result = apply(readFields(names));
      await setImmediate();
    };
    expect(await longestTurn(run, { enoughMs: 50 })).toBeLessThan(50);
    expect(result).toEqual(expected);
  });
});
