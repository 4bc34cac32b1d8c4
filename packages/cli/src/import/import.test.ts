import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { importRecords, report } from "./import.ts";
import type { ImportAnswer } from "./import-answer.ts";

const allTaken = {
  records: 2,
  accepted: 2,
  rejected: 0,
  kinds: {},
  errors: [],
  ignored: [],
  settled: true,
  overbooked: [],
  ambiguous_secrets: [],
  warned: 0,
  warnings: [],
};

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
  ["that the platform could not find out", null, [expect.stringContaining("could not be found out")]],
])("[R8.11] the report of an import says %s", (_name, quotas, expected) => {
  expect(reported({ overbooked: quotas })).toEqual(["2 records, 2 accepted, 0 rejected\n", ...expected]);
});

it("[R7.15, R10.6] the report of an import names keys that had no effect", () => {
  const ignored = [
    { kind: "checkin_list", key: "limit_product", count: 1 },
    { kind: "order", key: "positions.se\u001bcret", count: 3 },
  ];
  const [, known, hidden] = reported({ ignored });
  expect(known).toBe("  checkin_list.limit_product is not known and had no effect (1×)\n");
  expect(hidden).toContain("had no effect (3×)");
  expect(hidden).not.toContain("\u001b");
});

it.each([
  [2, "  2 positions of sampleconf share a secret and are ambiguous at the gate: ABC01 (1), ABC08 (8)\n"],
  [3, "  3 positions of sampleconf share a secret and are ambiguous at the gate: ABC01 (1), ABC08 (8), …\n"],
])("[R7.15] the report of an import names the tickets that share a secret, %i of them", (count, line) => {
  const positions = [
    { order: "ABC01", id: 1 },
    { order: "ABC08", id: 8 },
  ];
  const ambiguous_secrets = [{ organizer: "bigevents", event: "sampleconf", count, positions }];
  expect(reported({ ambiguous_secrets }).slice(1)).toEqual([line]);
});

it("[R7.15] the report of an import says that shared secrets could not be looked for", () => {
  expect(reported({ ambiguous_secrets: null }).slice(1)).toEqual([expect.stringContaining("could not be found out")]);
});

describe("an import from standard input", () => {
  const records = Buffer.from('{"kind":"gate"}\n{"kind":"gate"}\n');
  let answer: ImportAnswer;
  let failure: { readonly status: number; readonly location?: string; readonly body: unknown } | "broken" | undefined;
  let arrived: { url: string | undefined; headers: IncomingMessage["headers"]; body: Buffer } | undefined;
  const platform = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      arrived = { url: request.url, headers: request.headers, body: Buffer.concat(chunks) };
      if (failure === "broken") return void request.socket.destroy();
      if (failure?.location !== undefined) response.setHeader("location", failure.location);
      response.statusCode = failure?.status ?? 200;
      response.end(JSON.stringify(failure === undefined ? answer : failure.body));
    });
  });

  beforeEach(async () => {
    answer = allTaken;
    failure = undefined;
    await new Promise<void>((resolve) => platform.listen(0, "127.0.0.1", resolve));
  });
  afterEach(async () => {
    // What it says is about the command, and not about the tests.
    process.exitCode = undefined;
    platform.closeAllConnections();
    await new Promise((resolve) => platform.close(resolve));
  });

  async function send(bytes: Buffer, ...more: string[]): Promise<typeof process.exitCode> {
    vi.spyOn(process, "stdin", "get").mockReturnValue(Readable.from([bytes]) as typeof process.stdin);
    vi.spyOn(process.stdout, "write").mockReturnValue(true);
    const { port } = platform.address() as AddressInfo;
    await importRecords(["-", "--url", `http://127.0.0.1:${port}`, "--key", "operator", ...more]);
    return process.exitCode;
  }

  it("[R1.6, R1.7] sends what comes, as the operator", async () => {
    expect(await send(records)).toBeUndefined();
    expect(arrived?.body).toEqual(records);
    expect(arrived?.headers).toMatchObject({ authorization: "Token operator", "content-type": "application/x-ndjson" });
    expect(arrived?.headers).not.toHaveProperty("content-encoding");
  });

  it("[R1.33] validates what comes, says that nothing was stored, and needs not wait", async () => {
    answer = { ...allTaken, settled: false, overbooked: null, ambiguous_secrets: null };
    expect(await send(records, "--validate")).toBeUndefined();
    expect(arrived?.url).toBe("/api/v1/import/?validate=true");
    expect(vi.mocked(process.stdout.write).mock.calls.map(([text]) => text)).toEqual([
      "2 records, 2 accepted, 0 rejected\n",
      "Nothing was stored.\n",
    ]);
    answer = { ...answer, accepted: 1, rejected: 1 };
    expect(await send(records, "--validate")).toBe(1);
    arrived = undefined;
    await expect(send(records, "--validate", "--from-pretix", "https://pretix.eu")).rejects.toMatchObject({
      code: "file_and_pretix",
    });
    expect(arrived).toBeUndefined();
  });

  it("[R1.8] says of what is gzipped that it is", async () => {
    await send(gzipSync(records));
    expect(arrived?.headers).toMatchObject({ "content-encoding": "gzip" });
    expect(gunzipSync(arrived?.body ?? "")).toEqual(records);
  });

  it("[R7.18] writes what was rejected to a file, and takes none that it cannot write", async () => {
    const folder = mkdtempSync(join(tmpdir(), "import-"));
    const file = join(folder, "errors.ndjson");
    const errors = [{ line: 2, kind: "gate", errors: { name: ["This field is required."] } }];
    answer = { ...allTaken, accepted: 1, rejected: 1, errors };
    await send(records, "--errors", file);
    expect(arrived?.url).toBe("/api/v1/import/?errors=100000");
    expect(readFileSync(file, "utf8")).toBe(`${JSON.stringify(errors[0])}\n`);
    rmSync(folder, { recursive: true });
    arrived = undefined;
    await expect(send(records, "--errors", file)).rejects.toMatchObject({ code: "errors_unwritable" });
    expect(arrived).toBeUndefined();
  });

  it.each([
    ["a record was rejected", { accepted: 1, rejected: 1 }],
    ["not everything is visible yet", { settled: false }],
  ])("[R1.7] fails where %s", async (_name, changes) => {
    answer = { ...allTaken, ...changes };
    expect(await send(records)).toBe(1);
  });

  it.each([
    [
      "what was stored before it ended early",
      { status: 400, body: { ...allTaken, detail: "The body is cut \u001boff.", rejected: 3, settled: false } },
      "the import ended early, with 2 records accepted and 3 rejected: The body is cut \ufffdoff.",
    ],
    [
      "that another server answers",
      { status: 200, body: null },
      /^the server at .* is no Tessera; pass the right --url$/,
    ],
    [
      "where the server leads",
      { status: 301, location: "https://tickets.example/api/v1/import/", body: "" },
      /leads elsewhere; if that is the platform, pass --url https:\/\/tickets\.example$/,
    ],
    ["that records may be stored after a broken connection", "broken", /broke the connection, and may have stored/],
  ] as const)("[R1.32, R10.6] says %s", async (_name, given, message) => {
    failure = given;
    await expect(send(records)).rejects.toThrow(message);
  });
});
