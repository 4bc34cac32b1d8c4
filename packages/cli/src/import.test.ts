import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type ImportAnswer, importRecords, report } from "./import.ts";

const allTaken = { records: 2, accepted: 2, rejected: 0, kinds: {}, errors: [], settled: true, overbooked: [] };

const overbooked = (quota: number) => ({ organizer: "bigevents", event: "sampleconf", quota, size: 100, taken: 103 });

function reported(answer: Partial<ImportAnswer>): string[] {
  const lines: string[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => lines.push(String(text)) > 0);
  report({ ...allTaken, ...answer });
  return lines;
}

it.each([
  ["nothing where there is room for everything", [], []],
  [
    "every overbooked quota, in a line each",
    [overbooked(7), overbooked(8)],
    [7, 8].map((quota) => `  quota ${quota} of bigevents/sampleconf is overbooked: 103 taken of 100\n`),
  ],
  ["that nobody could say", null, [expect.stringContaining("could not be found out")]],
])("[R8.11] the report of an import says %s", (_name, quotas, expected) => {
  expect(reported({ overbooked: quotas })).toEqual(["2 records, 2 accepted, 0 rejected\n", ...expected]);
});

describe("an import from standard input", () => {
  const records = Buffer.from('{"kind":"gate"}\n{"kind":"gate"}\n');
  let answer: ImportAnswer;
  let arrived: { headers: IncomingMessage["headers"]; body: Buffer } | undefined;
  const platform = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      arrived = { headers: request.headers, body: Buffer.concat(chunks) };
      response.end(JSON.stringify(answer));
    });
  });

  beforeEach(async () => {
    answer = allTaken;
    await new Promise<void>((resolve) => platform.listen(0, "127.0.0.1", resolve));
  });
  afterEach(async () => {
    // What it says is about the command, and not about the tests.
    process.exitCode = undefined;
    platform.closeAllConnections();
    await new Promise((resolve) => platform.close(resolve));
  });

  async function send(bytes: Buffer): Promise<typeof process.exitCode> {
    vi.spyOn(process, "stdin", "get").mockReturnValue(Readable.from([bytes]) as typeof process.stdin);
    vi.spyOn(process.stdout, "write").mockReturnValue(true);
    const { port } = platform.address() as AddressInfo;
    await importRecords(["-", "--url", `http://127.0.0.1:${port}`, "--key", "operator"]);
    return process.exitCode;
  }

  it("[R1.6, R1.7] sends what comes, as the operator", async () => {
    expect(await send(records)).toBeUndefined();
    expect(arrived?.body).toEqual(records);
    expect(arrived?.headers).toMatchObject({ authorization: "Token operator", "content-type": "application/x-ndjson" });
    expect(arrived?.headers).not.toHaveProperty("content-encoding");
  });

  it("[R1.8] says of what is gzipped that it is", async () => {
    await send(gzipSync(records));
    expect(arrived?.headers).toMatchObject({ "content-encoding": "gzip" });
    expect(gunzipSync(arrived?.body ?? "")).toEqual(records);
  });

  it.each([
    ["a record was rejected", { accepted: 1, rejected: 1 }],
    ["not everything is visible yet", { settled: false }],
  ])("[R1.7] fails where %s", async (_name, changes) => {
    answer = { ...allTaken, ...changes };
    expect(await send(records)).toBe(1);
  });
});
