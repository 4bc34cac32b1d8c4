import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { aPosition } from "../testing/fake-peers.ts";
import { devices, inEvent, inTheirEvent, keys, type Sent, type ServedApp, serveApp } from "../testing/serve-app.ts";

const admitted: ScanOutcome = {
  outcome: { $case: "admitted", value: {} },
  list: { id: 7, name: "Main gate", subevent: undefined, includePending: true },
  position: aPosition(),
  checkinTexts: [],
};

/** More than may wait of one organizer, and of one credential. */
const most = 512;

const pathIn = (event: string, code: string) => `${event}/checkinlists/7/positions/${code}/redeem/`;

let app: ServedApp;
let waiting: Promise<Sent>[];
let decide: () => void;

/** Holds back the decisions of so many scans that there is no room for more. */
beforeAll(async () => {
  app = await serveApp();
  const held = Promise.withResolvers<void>();
  decide = held.resolve;
  app.peers.when("scans", "redeem", async ({ scans }) => {
    await held.promise;
    return { outcomes: scans.map(() => admitted) };
  });
  waiting = Array.from({ length: most }, (_, index) => scan(`t${index}`));
  const probe = () => app.send("POST", pathIn(inEvent, "probe"), { headers: usual, body: { type: "sideways" } });
  while ((await probe()).status !== 429) await new Promise((resolve) => setTimeout(resolve, 10));
});
afterAll(async () => {
  decide();
  await Promise.all(waiting);
  await app.close();
});

beforeEach(() => void app.seen.splice(0));

/** Unlike what scanners send, so that the request takes the usual way. */
const usual = { accept: "application/json; q=0.9" };

interface Options {
  readonly code?: string;
  readonly key?: string;
  readonly event?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function scan(code: string, { key = keys.all, event = inEvent, query = "", headers = {} }: Options = {}) {
  return app.send("POST", `${pathIn(event, code)}${query}`, { key, headers, body: { nonce: code } });
}

/** How many scans had no room, and how many requests got their status. */
async function counts(): Promise<number[]> {
  const text = await app.metrics.exposition();
  return [
    /^tessera_http_too_many_requests_total\{reason="too_many_redeems"\} (\d+)$/m,
    /^tessera_http_request_duration_seconds_count\{method="POST",route="[^"]*\/redeem\/",status="429"\} (\d+)$/m,
  ].map((line) => Number(line.exec(text)?.[1]));
}

describe("a scan without room", () => {
  it("[C3.47] is refused ahead of all steps, and as they would", async () => {
    const [early, late] = [await scan("abc"), await scan("abc", { headers: usual })];
    expect(app.seen.map(({ status }) => status)).toEqual([429]);
    const comparable = ({ headers, ...sent }: Sent) => ({
      ...sent,
      headers: { ...headers, date: "", "x-request-id": "" },
    });
    expect(comparable(early)).toEqual(comparable(late));
    expect(early).toMatchObject({ status: 429, headers: { "retry-after": "1", "x-request-id": expect.any(String) } });
  });

  it("keeps the request id of its scanner", async () => {
    const { headers } = await scan("abc", { headers: { "x-request-id": "gate-3-scan-17" } });
    expect(headers["x-request-id"]).toBe("gate-3-scan-17");
  });

  it("is counted", async () => {
    const before = await counts();
    await scan("abc");
    expect(await counts()).toEqual(before.map((count) => count + 1));
  });

  it("takes the usual way for an idempotency key, whose answer may have been kept", async () => {
    await scan("abc", { headers: { "x-idempotency-key": "again" } });
    expect(app.seen).toHaveLength(1);
  });
});

describe("who may not scan is told so, however crowded it is", () => {
  it.each<[string, number, Options]>([
    ["an unknown key", 401, { key: "unknown" }],
    ["a key that was switched off", 401, { key: keys.inactive }],
    ["a revoked device", 401, { key: devices.revoked }],
    ["a key without the permission", 403, { key: keys.none }],
    ["a key of another event", 403, { key: keys.otherEvent }],
    ["a key of another organizer", 403, { key: keys.otherOrganizer }],
    ["the operator", 403, { key: keys.operator }],
    ["an event that there is not", 403, { event: inEvent.replace("sampleconf", "none") }],
    ["another type of answer", 406, { headers: { accept: "text/html" } }],
    ["another format", 404, { query: "?format=api" }],
    ["a path that is no UTF-8", 400, { code: "%ff" }],
  ])("%s: %i", async (_what, status, { code = "abc", ...options }) => {
    expect(await scan(code, options)).toMatchObject({ status });
  });

  it("and a request that is no scan is answered", async () => {
    expect(await app.send("OPTIONS", pathIn(inEvent, "abc"))).toMatchObject({ status: 200 });
  });
});

it("another organizer has its own room", async () => {
  const theirs = scan("abc", { key: keys.otherOrganizer, event: inTheirEvent });
  decide();
  expect(await theirs).toMatchObject({ status: 201 });
});
