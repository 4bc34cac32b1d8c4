import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { streamCsv } from "./csv.ts";

it("[F3.13] a table begins with its columns, and reads the next part when the last one was taken", async () => {
  const taken: number[] = [];
  async function* parts() {
    for (const part of [1, 2]) {
      taken.push(part);
      yield part === 1 ? [] : [[part, "x"]];
    }
  }
  const table = streamCsv(["id", "name"], parts());
  expect(taken).toEqual([]);
  expect(await text(table)).toBe("id,name\r\n2,x\r\n");
});
