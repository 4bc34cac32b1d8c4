import { questionDocument } from "@tessera/testkit/question-document";
import { describe, expect, it } from "vitest";
import { createReaders } from "./readers.ts";

describe("rules", () => {
  it("are read once, while they are in use", () => {
    const readers = createReaders();
    const json = '{"==": [{"var": "product"}, 1]}';
    const first = readers.rules(json);
    expect(readers.rules(`${json} `)).not.toBe(first);
    expect(readers.rules(json)).toBe(first);
    expect(readers.rules("false")).toBeNull();
    for (let other = 0; other < 1000; other += 1) readers.rules(`{"==": [{"var": "product"}, ${other}]}`);
    const again = readers.rules(json);
    expect(again).not.toBe(first);
    expect(again).toEqual(first);
  });
});

describe("questions", () => {
  const document = questionDocument(7);

  it("of the same text are read once", () => {
    const readers = createReaders();
    expect(readers.question(`${document} `.trimEnd())).toBe(readers.question(document));
  });

  it("of another text are read again, though only a blank is different", () => {
    const readers = createReaders();
    expect(readers.question(`${document} `)).not.toBe(readers.question(document));
  });

  it("that are not in use are forgotten before they are too much", () => {
    const readers = createReaders();
    const before = readers.question(document);
    const padding = " ".repeat(1_000_000);
    for (let index = 0; index < 5; index++) readers.question(document + padding + " ".repeat(index));
    const after = readers.question(document);
    expect(after).not.toBe(before);
    expect(after).toEqual(before);
  });

  it("that are larger than all others together may be are not kept", () => {
    const readers = createReaders();
    const before = readers.question(document);
    const huge = document + " ".repeat(4_000_000);
    expect(readers.question(huge)).not.toBe(readers.question(huge));
    expect(readers.question(document)).toBe(before);
  });

  it("that cannot be read fail each time", () => {
    const readers = createReaders();
    expect(() => readers.question("no question")).toThrow(SyntaxError);
    expect(() => readers.question("no question")).toThrow(SyntaxError);
  });
});

it("a time zone is opened once, and an unknown one is null", () => {
  const readers = createReaders();
  expect(readers.zone("Asia/Samarkand")).not.toBeNull();
  expect(readers.zone("Asia/Samarkand")).toBe(readers.zone("Asia/Samarkand"));
  expect(readers.zone("Europe/Atlantis")).toBeNull();
});
