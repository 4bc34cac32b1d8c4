import { describe, expect, it } from "vitest";
import { findOtherFormat } from "./other-format.ts";

const record = '{"kind":"gate","organizer":"o","data":{"id":1}}';

describe("a first line of another format", () => {
  it.each([
    ["an array", "[", "array"],
    ["an array in one line", `[${record}]`, "array"],
    ["a JSON text", JSON.stringify(record), "JSON text"],
    ["records without line breaks", `${record}${record}`, "--data-binary"],
    ["records with commas", `${record}, ${record}`, "--data-binary"],
    ["a record over several lines", "{", "several lines"],
    ["UTF-16", Buffer.from(`\ufeff${record}`, "utf16le"), "UTF-16"],
    ["gzip", Buffer.from([0x1f, 0x8b, 8, 0]), "Content-Encoding"],
  ])("[R7.16] is known: %s", (_name, line, remedy) => {
    expect(findOtherFormat(Buffer.from(line))).toContain(remedy);
  });

  it.each([
    ["a record that was cut off", record.slice(0, 20)],
    ["words", "id,name"],
    ["a number", "5"],
    ["no UTF-8", Buffer.from([0x7b, 0xff])],
  ])("[R7.17] may be a bad line: %s", (_name, line) => {
    expect(findOtherFormat(Buffer.from(line))).toBeUndefined();
  });

  it("[R10.1] is not repeated", () => {
    expect(findOtherFormat(Buffer.from('["c0ffee-secret"'))).not.toContain("c0ffee");
  });
});
