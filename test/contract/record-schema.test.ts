import { readFileSync } from "node:fs";
import { demoRecords } from "@tessera/cli/demo/demo";
import { type JsonSchema, toJsonSchema } from "@tessera/schema/schema";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { groundwork, itemData, listData, ofEvent, ofOrganizer, orderData } from "../e2e/sample-records.ts";

interface SentRecord {
  readonly kind: string;
}

const example = readFileSync(new URL("../../docs/example.ndjson", import.meta.url), "utf8");
const path: string = "../../gateway/src/import/record-schema.ts";
const { recordShown } = (await import(path)) as { recordShown: JsonSchema };
const ajv = new Ajv2020({ strict: false, validateFormats: false });
const accepts = ajv.compile(toJsonSchema(recordShown));

function firstRefused(records: readonly unknown[]): unknown {
  return records.find((record) => !accepts(record));
}

/** Of each kind in each event one out of hundreds, which takes milliseconds instead of seconds. */
function sampled<R extends SentRecord>(records: readonly R[]): R[] {
  const met = new Map<string, number>();
  return records.filter(({ kind }) => {
    const count = met.get(kind) ?? 0;
    met.set(kind, count + 1);
    return count % 50 === 0;
  });
}

describe("the JSON Schema of records", () => {
  it("accepts the sample records of the tests", () => {
    expect(
      firstRefused([...(groundwork() as object[]), ofEvent("order", orderData()), ofEvent("checkin_list", listData())]),
    ).toBeUndefined();
  });

  it("accepts docs/example.ndjson", () => {
    const records = example
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(records.length).toBeGreaterThan(20);
    expect(firstRefused(records)).toBeUndefined();
  });

  it("accepts the demo", () => {
    const records = sampled([...demoRecords({ apiKey: "a".repeat(32), deviceKey: "d".repeat(32) })] as SentRecord[]);
    expect(new Set(records.map(({ kind }) => kind)).size).toBeGreaterThan(10);
    expect(firstRefused(records)).toBeUndefined();
  });

  it("accepts a removal", () => {
    expect(accepts({ ...ofEvent("item", { id: 1 }), deleted: true })).toBe(true);
  });

  it.each([
    ["an unknown kind", ofOrganizer("itme", { id: 1 })],
    ["no event", ofOrganizer("item", itemData())],
    ["a missing field", ofEvent("item", {})],
    ["a wrong field", ofEvent("order", orderData({ status: "z" }))],
    ["a record of another kind", ofEvent("order", itemData())],
  ])("refuses %s", (_name, record) => {
    expect(accepts(record)).toBe(false);
  });
});
