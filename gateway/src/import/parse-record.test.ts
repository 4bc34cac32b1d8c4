import { assert, property, uint8Array } from "fast-check";
import { describe, expect, it } from "vitest";
import { parseRecord } from "./parse-record.ts";

const parse = (record: unknown) =>
  parseRecord(3, Buffer.from(typeof record === "string" ? record : JSON.stringify(record)));
const errorsOf = (record: unknown) => {
  const parsed = parse(record);
  return "errors" in parsed ? Object.keys(parsed.errors).sort() : [];
};

const recordOfNames = (most: number) =>
  Object.fromEntries(Array.from({ length: most }, (_, index) => [`name${index}`, 1]));
const item = { kind: "item", organizer: "bigevents", event: "sampleconf", data: { id: 1 } };

describe("parseRecord", () => {
  it("[R2.3] hands data on as it came", () => {
    const parsed = parse(
      '{"kind":"item","organizer":"o","event":"e","data":{"name":{"de":"Tür"},"__proto__":{"a":1},"2":0,"1":[]},"more":1}',
    );
    expect(parsed).toMatchObject({
      owner: "boxoffice",
      record: { line: 3, kind: "item", organizer: "o", event: "e", deleted: false },
    });
    if ("errors" in parsed) return;
    expect(JSON.parse(Buffer.from(parsed.record.data).toString())).toEqual(
      JSON.parse('{"1":[],"2":0,"name":{"de":"Tür"},"__proto__":{"a":1}}'),
    );
  });

  it.each([
    ["1e400", Number.POSITIVE_INFINITY],
    ["-1.5E+309", Number.NEGATIVE_INFINITY],
    [`1${"0".repeat(400)}`, Number.POSITIVE_INFINITY],
    [`${"9".repeat(250)}e99`, Number.POSITIVE_INFINITY],
    ["1e300", 1e300],
  ])("[R4.9] hands a number on that overflows, never null for it: %s", (sent, number) => {
    const parsed = parse(`{"kind":"item","organizer":"o","event":"e","data":{"id":1,"a":[{"size": ${sent}}]},"x":1}`);
    if ("errors" in parsed) throw new Error("the record was not read");
    expect(JSON.parse(Buffer.from(parsed.record.data).toString())).toEqual({ id: 1, a: [{ size: number }] });
  });

  it.each([
    ["organizer", "boxoffice", { kind: "organizer", organizer: "o", data: {} }],
    ["checkin_list", "checkin", { ...item, kind: "checkin_list" }],
    ["device", "boxoffice", { kind: "device", organizer: "o", event: null, data: {} }],
    ["order", "boxoffice", { ...item, kind: "order", deleted: true }],
  ])("knows whose %s is", (_kind, owner, record) => {
    expect(parse(record)).toMatchObject({ owner });
  });

  it.each([
    ["everything missing", {}, ["data", "kind", "organizer"]],
    [
      "everything wrong",
      { kind: 5, organizer: "a b", event: [], data: [], deleted: "x" },
      ["data", "deleted", "kind", "organizer"],
    ],
    ["a kind that is not there", { ...item, kind: "unheard_of" }, ["kind"]],
    ["a kind by an inherited name", { ...item, kind: "constructor" }, ["kind"]],
    ["no event", { ...item, event: undefined }, ["event"]],
    ["a wrong event", { ...item, event: "a/b" }, ["event"]],
    ["an event too many", { ...item, kind: "gate" }, ["event"]],
    ["a long slug", { ...item, organizer: "x".repeat(51) }, ["organizer"]],
    ["no data", { ...item, data: null }, ["data"]],
    ["data as text", { ...item, data: "{}" }, ["data"]],
    [
      "fields of the prototype",
      '{"__proto__":{"kind":"item","organizer":"o","event":"e","data":{}}}',
      ["data", "kind", "organizer"],
    ],
    ["broken JSON", "{", ["non_field_errors"]],
    ["an array", "[]", ["non_field_errors"]],
    ["null", "null", ["non_field_errors"]],
    ["many values", `{"a":[${"1,".repeat(300_000)}1]}`, ["non_field_errors"]],
    ["many names", { ...item, data: { id: 1, a: recordOfNames(10_000) } }, ["non_field_errors"]],
    ["deep nesting", `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, ["non_field_errors"]],
  ])("[R2.1, R2.2, R2.9, R3.62, S4.4, S4.24] names what is wrong: %s", (_name, record, fields) => {
    expect(errorsOf(record)).toEqual(fields);
  });

  it("[R2.9] counts each name once", () => {
    const record = { ...item, data: { id: 1, a: Array(20).fill(recordOfNames(9900)) } };
    expect(errorsOf(record)).toEqual([]);
  });

  it.each(["sales_channel", "api_key", "gate", "device", "reusable_medium", "organizer"])(
    "[R2.2, R3.54] says that a %s belongs to no event",
    (kind) => {
      expect(errorsOf({ ...item, kind })).toEqual(["event"]);
      expect(errorsOf({ ...item, kind, event: undefined })).toEqual([]);
    },
  );

  it("[R10.1] repeats nothing that somebody sent", () => {
    const secret = "c0ffee-secret";
    for (const record of [
      { ...item, kind: secret },
      { ...item, organizer: `${secret} ` },
      `{"a": ${secret}}`,
      { ...item, deleted: secret },
      { ...item, event: `/${secret}` },
    ]) {
      expect(JSON.stringify(parse(record))).not.toContain(secret);
    }
  });

  it.each([
    ["{", false],
    [' {"a":', false],
    ["[", true],
  ])("[R2.9] takes what nests too deep for a record where it begins like one: %s", (beginning, notAnObject) => {
    expect(parse(`${beginning}${"[".repeat(200)}`)).toMatchObject({ notAnObject });
  });

  it("[R2.9] reads no bytes that are not UTF-8, and never throws", () => {
    expect(parseRecord(1, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]))).toMatchObject({ notAnObject: true });
    assert(property(uint8Array({ maxLength: 50 }), (bytes) => void parseRecord(1, Buffer.from(bytes))));
  });
});
