import { array, assert, property, string, uint8Array } from "fast-check";
import { describe, expect, it } from "vitest";
import { type Line, splitLines } from "./split-lines.ts";

/** Splits bytes that arrive in chunks of these sizes, repeated. */
function split(bytes: Buffer, sizes: readonly number[], maxBytes = 1000): [number, string | undefined][] {
  const splitter = splitLines({ maxBytes });
  const lines: Line[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    lines.push(...splitter.push(bytes.subarray(at, at + size)));
    at += size;
  }
  lines.push(...splitter.end());
  return lines.map(({ number, bytes: line }) => [number, line?.toString("latin1")]);
}

/** The same in memory, in one go. */
function expected(text: string, maxBytes = 1000): [number, string | undefined][] {
  return text
    .split("\n")
    .map((line) => line.replace(/\r$/, ""))
    .map((line, index): [number, string | undefined] => [index + 1, line.length > maxBytes ? undefined : line])
    .filter(([, line]) => line === undefined || /[^ \t\r]/.test(line));
}

const sizes = array(uint8Array({ minLength: 1, maxLength: 1, min: 1 }), { minLength: 1, maxLength: 8 }).map((each) =>
  each.map(([size]) => size ?? 1),
);
const text = array(string({ unit: "binary-ascii", maxLength: 30 }), { maxLength: 20 }).map((parts) => parts.join("\n"));
const withReturns = array(
  string({ maxLength: 9 }).map((line) => line.replaceAll(/[\r\n]/g, "")),
  { maxLength: 20 },
).map((lines) => lines.join("\r\n"));

describe("splitLines", () => {
  it("[R2.10] finds the same lines however the stream is cut", () => {
    assert(
      property(text, sizes, (content, cut) => {
        expect(split(Buffer.from(content, "latin1"), cut)).toEqual(expected(content));
      }),
    );
    assert(
      property(withReturns, sizes, (content, cut) => {
        const bytes = Buffer.from(content);
        expect(split(bytes, cut)).toEqual(expected(bytes.toString("latin1")));
      }),
    );
  });

  it("[R2.13] skips what is too long, however the stream is cut", () => {
    assert(
      property(text, sizes, (content, cut) => {
        expect(split(Buffer.from(content, "latin1"), cut, 5)).toEqual(expected(content, 5));
      }),
    );
  });

  it.each([[[1]], [[2, 1]], [[100]]])(
    "[R2.11, R2.12] leaves out a byte order mark at the beginning, before a blank line, too: pieces of %j",
    (cut) => {
      const at = (text: string) => split(Buffer.from(text), cut);
      expect(at("\ufeffa\nb")).toEqual([
        [1, "a"],
        [2, "b"],
      ]);
      expect(at("\ufeff\r\na\n")).toEqual([[2, "a"]]);
      expect(at("\ufeff\n\na")).toEqual([[3, "a"]]);
      expect(at("\ufeff")).toEqual([]);
      expect(at("\n\ufeffa")).toEqual([[2, "\u00ef\u00bb\u00bfa"]]);
    },
  );

  it("allows exactly the longest line, with or without a carriage return", () => {
    expect(split(Buffer.from("12345\n12345\r\n123456\n1234\n12345"), [2], 5)).toEqual([
      [1, "12345"],
      [2, "12345"],
      [3, undefined],
      [4, "1234"],
      [5, "12345"],
    ]);
  });

  it("[R1.3, R2.13] keeps no more of a line than is allowed", () => {
    const splitter = splitLines({ maxBytes: 1024 });
    const piece = Buffer.alloc(1024 * 1024, "x");
    const before = process.memoryUsage().arrayBuffers;
    for (let sent = 0; sent < 200; sent += 1) expect(splitter.push(Buffer.from(piece))).toEqual([]);
    expect(splitter.push(Buffer.from("\nafter\n"))).toMatchObject([{ number: 1, bytes: undefined }, { number: 2 }]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(250 * 1024 * 1024);
  });
});
