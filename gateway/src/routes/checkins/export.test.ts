import { request as httpRequest } from "node:http";
import { gunzipSync } from "node:zlib";
import { Fault } from "@tessera/kit/fault";
import type {
  ExportPlace,
  ExportScansRequest,
  ExportScansResponse,
} from "@tessera/protos/gen/ticketing/checkin/v1/history";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { beforeEach, describe, expect, it } from "vitest";
import { appOfEachTest, devices, inEvent, keys } from "../../testing/serve-app.ts";

const file = `${inEvent}/checkins/export/`;

const app = appOfEachTest();

const placeAfter = (after: number): ExportPlace => ({ after, until: 9, beganAt: 5, epoch: "one", snapshot: "7:7:" });
const part = (lines: string, next?: ExportPlace): ExportScansResponse => ({ lines: Buffer.from(lines), next });

let asked: ExportScansRequest[];
let parts: (ExportScansResponse | Error)[];

beforeEach(() => {
  asked = [];
  parts = [part('{"id":1}\n', placeAfter(1)), part("", placeAfter(2)), part('{"id":3}\n')];
  app.peers.when("scanHistory", "exportScans", async (request) => {
    asked.push(request);
    const next = parts.shift();
    if (next === undefined) throw new Error("nothing more was expected to be read");
    if (next instanceof Error) throw next;
    return next;
  });
});

/** Reads as far as the connection goes. */
function readBroken(headers: Readonly<Record<string, string>> = {}) {
  return new Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }>((resolve) => {
    const sent = { authorization: `Token ${keys.all}`, ...headers };
    httpRequest({ port: app.port, path: file, headers: sent }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", () => {});
      response.on("close", () => resolve({ bytes: Buffer.concat(chunks), isWhole: response.complete }));
    })
      .on("error", () => resolve({ bytes: Buffer.alloc(0), isWhole: false }))
      .end();
  });
}

describe("GET checkins/export/", () => {
  it("[C8.1, C8.5] streams all parts of one export", async () => {
    const { status, headers, text } = await app.send("GET", file);
    expect([status, headers["content-type"], headers["content-disposition"]]).toEqual([
      ...[200, "application/x-ndjson", "attachment; filename=checkins.ndjson"],
    ]);
    expect(text).toBe('{"id":1}\n{"id":3}\n');
    expect(asked.map(({ place, isTable }) => [place?.after, isTable])).toEqual([
      [undefined, false],
      [1, false],
      [2, false],
    ]);
  });

  it.each([
    ["?format=csv", "*/*", true],
    ["", "text/csv", true],
    ["", "text/csv, application/x-ndjson", false],
    ["?format=json", "text/csv", false],
    ["", "application/json", false],
  ])("[C8.3] %s for a client that accepts %s is a table: %s", async (query, accept, isTable) => {
    parts = [part("id\r\n1\r\n")];
    const { headers, text } = await app.send("GET", file + query, { headers: { accept } });
    expect(asked).toMatchObject([{ isTable }]);
    expect(headers["content-type"]).toBe(isTable ? "text/csv; charset=utf-8" : "application/x-ndjson");
    expect(text).toBe("id\r\n1\r\n");
  });

  it("[C8.4] takes the filters of the history, and names every wrong one", async () => {
    const query =
      "created_since=2026-11-21T12:00:00Z&successful=false&error_reason=unpaid&list=7&type=exit&gate=2&device=9";
    await app.send("GET", `${file}?${query}`);
    const hour = Date.UTC(2026, 10, 21, 12) * 1000;
    const filter = { createdSince: hour, successful: false, reason: "unpaid", list: 7, type: ScanType.EXIT };
    expect(asked).toMatchObject(Array.from({ length: 3 }, () => ({ ...filter, gate: 2, device: 9 })));
    const { status, json } = await app.send("GET", `${file}?list=x&type=both&format=json`);
    expect([status, Object.keys(json as object).sort()]).toEqual([400, ["list", "type"]]);
    parts = [new Fault("invalid", "invalid_filter", "No such list.", { fields: { list: ["No such list."] } })];
    expect((await app.send("GET", `${file}?list=8`)).status).toBe(400);
  });

  it.each([{}, { "accept-encoding": "gzip" }])("[C8.7] that fails on its way is broken off: %o", async (headers) => {
    parts = [part('{"id":1}\n', placeAfter(1)), new Fault("unmet", "export_interrupted", "A ticket was deleted.")];
    const { isWhole } = await readBroken(headers);
    expect(isWhole).toBe(false);
  });

  it("[C8.9] is compressed for clients that ask for it", async () => {
    const { bytes, isWhole } = await readBroken({ "accept-encoding": "gzip" });
    expect([isWhole, gunzipSync(bytes).toString()]).toEqual([true, '{"id":1}\n{"id":3}\n']);
  });

  it("[C8.9] reads no further than two parts ahead of its reader, and nothing for one that has gone", async () => {
    const large = "x".repeat(2 * 1024 * 1024);
    app.peers.when("scanHistory", "exportScans", async (request) => {
      asked.push(request);
      return part(large, placeAfter(asked.length));
    });
    await new Promise<void>((resolve, reject) => {
      const headers = { authorization: `Token ${keys.all}` };
      const request = httpRequest({ port: app.port, path: file, headers }, (response) => {
        response.pause();
        // The kernel takes some megabytes by itself.
        const waitUntilStill = async () => {
          for (let before = -1; before !== asked.length; ) {
            before = asked.length;
            await new Promise((resume) => setTimeout(resume, 150));
          }
          expect(asked.length).toBeLessThan(12);
          response.destroy();
        };
        response.on("error", () => {});
        response.on("close", resolve);
        waitUntilStill().catch(reject);
      });
      request.on("error", reject);
      request.end();
    });
    const before = asked.length;
    await expect.poll(async () => (await app.send("HEAD", file)).status).toBe(200);
    expect(asked.length).toBeLessThanOrEqual(before + 2);
  });

  it("[C8.9] two at a time for an organizer; others wait", async () => {
    const waits: (() => void)[] = [];
    app.peers.when("scanHistory", "exportScans", async (request) => {
      asked.push(request);
      await new Promise<void>((resolve) => {
        waits.push(resolve);
      });
      return part("\n");
    });
    const answers = [1, 2, 3].map(() => app.send("GET", file));
    await expect.poll(() => waits).toHaveLength(2);
    waits.shift()?.();
    await expect.poll(() => asked).toHaveLength(3);
    for (const resume of waits) resume();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it("[C8.1] is for those who may read orders, and for no scanning device", async () => {
    for (const [key, status] of [
      [keys.reader, 200],
      [devices.full, 200],
      [keys.gate, 403],
      [devices.scan, 403],
      [keys.otherEvent, 403],
    ] as const) {
      parts = [part("")];
      expect([key, (await app.send("GET", file, { key })).status]).toEqual([key, status]);
    }
  });
});
