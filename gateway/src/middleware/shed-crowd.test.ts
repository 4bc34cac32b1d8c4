import { ServerResponse } from "node:http";
import { memoryCache } from "@tessera/engines/memory-cache";
import { createLog } from "@tessera/kit/log";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { Scan } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Crowd } from "../http/route.ts";
import { gatherScans } from "../routes/redeem/gather-scans.ts";
import { aList } from "../testing/fake-peers.ts";
import { placedScan } from "../testing/held-calls.ts";
import { devices, inEvent, inTheirEvent, keys, type Sent, type ServedApp, serveApp } from "../testing/serve-app.ts";
import {
  admitted,
  noRoom,
  redeemPath,
  roomForAll,
  type ServedCrowd,
  serveCrowd,
  warmUp,
} from "../testing/serve-crowd.ts";

let app: ServedCrowd;
beforeAll(async () => {
  app = await serveCrowd();
});
afterAll(() => app.close());

beforeEach(async () => {
  app.crowd = noRoom;
  await warmUp(app);
  app.logged.splice(0);
});

/** Unlike what scanners send, so that the request takes the usual way. */
const usual = { accept: "application/json; q=0.9" };

interface Options {
  readonly on?: ServedApp;
  readonly code?: string;
  readonly key?: string;
  readonly event?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function scan(code: string, { on = app, key = keys.all, event = inEvent, query = "", headers = {} }: Options = {}) {
  return on.send("POST", `${redeemPath(code, event)}${query}`, { key, headers, body: { nonce: code } });
}

/** How many scans had no room, and how many requests got their status. */
async function counts(): Promise<number[]> {
  const text = await app.metrics.exposition();
  return [
    /^tessera_http_too_many_requests_total\{reason="too_many_redeems"\} (\d+)$/m,
    /^tessera_http_request_duration_seconds_count\{method="POST",route="[^"]*\/redeem\/",status="429"\} (\d+)$/m,
  ].map((line) => Number(line.exec(text)?.[1] ?? 0));
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

  it("takes the usual way while its credential is not in memory", async () => {
    const fresh = await serveCrowd();
    const answers = [await scan("abc", { on: fresh }), await scan("abc", { on: fresh })];
    expect(answers.map(({ status }) => status)).toEqual([429, 429]);
    expect(fresh.seen).toHaveLength(1);
    await fresh.close();
  });

  it("[A12.2, C3.47] does not count for the rate limit", async () => {
    const cache = memoryCache({ log: createLog({ service: "test", destination: { write: () => {} } }) });
    const limited = await serveCrowd({ rate: { cache, limits: { requests: 0, scans: 2 } } });
    await warmUp(limited);
    const remaining = ({ status, headers }: Sent) => [status, headers["ratelimit"]?.toString().split(";")[1]];
    for (let time = 0; time < 5; time += 1)
      expect(remaining(await scan("abc", { on: limited }))).toEqual([429, undefined]);
    expect(limited.seen).toEqual([]);
    limited.crowd = roomForAll;
    const answers = [];
    for (let time = 0; time < 3; time += 1) answers.push(remaining(await scan("abc", { on: limited })));
    expect(answers).toEqual([
      [201, "r=1"],
      [201, "r=0"],
      [429, "r=0"],
    ]);
    await limited.close();
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
    // The first answer is remembered; the second one is given out of memory.
    for (let time = 0; time < 2; time += 1) expect(await scan(code, options)).toMatchObject({ status });
  });

  it("and a request that is no scan is answered", async () => {
    expect(await app.send("OPTIONS", redeemPath("abc"))).toMatchObject({ status: 200 });
  });
});

describe("the room for scans", () => {
  it("[C3.47] is what those that wait leave, and each organizer has its own", async () => {
    const real = await serveApp();
    const held = Promise.withResolvers<void>();
    real.peers.when("scans", "redeem", async ({ scans }) => {
      await held.promise;
      return { outcomes: scans.map(() => admitted) };
    });
    real.peers.when("checkinLists", "getCheckinList", async () => ({ list: aList() }));
    const waiting = Array.from({ length: 512 }, (_, index) => scan(`t${index}`, { on: real }));
    // It cannot be read, so it never waits.
    const probe = (event: string, key: string) =>
      real.send("POST", redeemPath("probe", event), { key, body: { type: "sideways" } });
    const refusedEarly = async () => {
      const seen = real.seen.length;
      const { status } = await probe(inEvent, keys.all);
      return status === 429 && real.seen.length === seen;
    };
    await expect.poll(refusedEarly, { timeout: 10_000 }).toBe(true);
    for (let time = 0; time < 2; time += 1)
      expect(await probe(inTheirEvent, keys.otherOrganizer)).toMatchObject({ status: 400 });
    held.resolve();
    await Promise.all(waiting);
    await real.close();
  });

  it("ends for a credential with its 512th scan that waits, and not for another one of its organizer", async () => {
    await warmUp(app, { key: keys.gate });
    let credential = "";
    app.crowd = {
      isNear: () => true,
      refuse({ tenant }) {
        credential = tenant.countedAs;
        return undefined;
      },
    };
    await scan("first");
    const held = Promise.withResolvers<void>();
    const room = gatherScans(
      async ({ scans }) => {
        await held.promise;
        return { outcomes: scans.map(() => admitted) };
      },
      // Else the organizer has no room first.
      { longestWaitMs: Number.POSITIVE_INFINITY },
    );
    app.crowd = {
      isNear: () => room.isCrowded(),
      refuse: ({ organizer, tenant }) => room.refuse(organizer, tenant.countedAs),
    };
    const wait = (code: string) => room.redeem(placedScan(scanOf(code)), credential);
    const waiting = Array.from({ length: 511 }, (_, index) => wait(`t${index}`));
    expect(await scan("the-last-one")).toMatchObject({ status: 201 });
    waiting.push(wait("t511"));
    app.seen.splice(0);
    expect(await scan("one-too-many")).toMatchObject({ status: 429 });
    expect(app.seen).toEqual([]);
    expect(await scan("of-a-colleague", { key: keys.gate })).toMatchObject({ status: 201 });
    held.resolve();
    await Promise.all(waiting);
    expect(await scan("one-too-many")).toMatchObject({ status: 201 });
  });
});

function scanOf(lookup: string): Scan {
  return {
    organizer: "bigevents",
    event: "sampleconf",
    list: 7,
    lookup,
    untrustedInput: false,
    type: ScanType.ENTRY,
    force: false,
    ignoreUnpaid: false,
    canceledSupported: false,
    questionsSupported: false,
    answers: [],
    sourceType: "barcode",
    nonce: lookup,
  };
}

describe("a refusal that fails", () => {
  afterEach(() => void vi.restoreAllMocks());

  const failures = () => app.logged.filter(({ level }) => level === "error");
  function fail(): never {
    throw new Error("the room cannot be told");
  }

  it.each<[string, Partial<Crowd>]>([
    ["at once", { isNear: fail }],
    ["for one scan", { isNear: () => true, refuse: vi.fn(() => undefined).mockImplementationOnce(fail) }],
  ])("%s leaves the scan on the usual way, and is logged once", async (_when, crowd) => {
    app.crowd = { ...roomForAll, ...crowd };
    expect(await scan("abc")).toMatchObject({ status: 201 });
    expect(failures()).toMatchObject([
      { message: "a scan could not be refused early", error: { message: "the room cannot be told" } },
    ]);
  });

  it("for every step is answered with 500, and the next scan as ever", async () => {
    app.crowd = { ...noRoom, refuse: fail };
    expect(await scan("abc")).toMatchObject({ status: 500 });
    app.crowd = noRoom;
    expect(await scan("abc")).toMatchObject({ status: 429 });
  });

  it("with its answer is answered with 500, and is logged once and without the ticket", async () => {
    vi.spyOn(ServerResponse.prototype, "writeHead").mockImplementationOnce(fail);
    expect(await scan("secret-of-ticket")).toMatchObject({
      status: 500,
      headers: { connection: "close" },
      json: { detail: "Something went wrong here; it has been recorded." },
    });
    expect(failures()).toMatchObject([{ message: "request failed", error: { message: "the room cannot be told" } }]);
    expect(JSON.stringify(app.logged)).not.toContain("secret-of-ticket");
    expect(app.seen).toEqual([]);
  });

  it("and cannot be answered at all ends the connection alone", async () => {
    const writing = vi.spyOn(ServerResponse.prototype, "writeHead").mockImplementation(fail);
    await expect(scan("abc")).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(failures()).toHaveLength(1);
    writing.mockRestore();
    expect(await scan("abc")).toMatchObject({ status: 429 });
  });
});
