import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { connection } from "../server/ask-server.ts";
import type { KeptDevice } from "../set-up/kept-device.ts";
import type { PastVerdict } from "../sheets/last-scans.ts";
import { annulScan } from "../sheets/tickets-on-list.ts";
import type { KeptScan } from "./kept-scan.ts";
import { dropTold, forgetScans, keepScan, keptScans, ownScans } from "./kept-scans.ts";
import { uploadScans } from "./upload-scans.ts";

const device: KeptDevice = {
  ...{ token: "t", organizer: "big", number: 3, name: "North", profile: "full", gate: null, gateId: null },
  ...{ hasListIds: true, chosen: { event: "fest", eventName: "Fest", list: 7, listName: "Main" } },
};
const kept = (nonce: string, changes: Partial<KeptScan> = {}): KeptScan => ({
  ...{ nonce, code: `code ${nonce}`, type: "entry", at: 1_795_000_000_000, ignoreUnpaid: false, force: false },
  ...{
    answers: {},
    organizer: "big",
    token: "t",
    event: "fest",
    list: 7,
    ticket: 1,
    reason: "",
    wasAsked: false,
    state: "waiting",
    since: 0,
  },
  ...changes,
});

interface Asked {
  readonly path: string;
  readonly token: string;
  readonly body: Record<string, unknown>;
}

let asked: Asked[];
let answer: (asked: Asked) => { readonly status: number; readonly body: unknown } | undefined;

beforeEach(() => {
  asked = [];
  connection.value = "online";
  vi.stubGlobal("document", { baseURI: "https://tickets.example.com/scan/" });
  vi.stubGlobal("fetch", async (url: URL, { body, headers }: { body: string; headers: Record<string, string> }) => {
    const token = headers["authorization"] ?? "";
    const request = { path: url.pathname.replace("/api/v1/organizers/big/", ""), token, body: JSON.parse(body) };
    asked.push(request);
    const said = answer(request);
    if (said === undefined) throw new TypeError("no network");
    return new Response(JSON.stringify(said.body), { status: said.status });
  });
});
afterEach(() => {
  forgetScans();
  vi.unstubAllGlobals();
});

/** Uploads until a condition holds. */
async function uploadUntil(isDone: () => boolean): Promise<void> {
  const stop = new AbortController();
  const working = uploadScans(device, stop.signal);
  await expect.poll(isDone, { interval: 5 }).toBe(true);
  stop.abort();
  await working;
}

const results = (...each: (readonly [number, object])[]) => ({
  status: 200,
  body: { results: each.map(([status, body]) => ({ status, body })), next: null },
});
const states = () => keptScans.value.map(({ nonce, state, objection }) => [nonce, state, objection]);
const sentOf = ({ body }: Asked) => body["scans"] as Record<string, unknown>[];

describe("scans that this page admitted", () => {
  it("[G6.2] are sent as they were made, each with its nonce and time, and wait for the feed", async () => {
    await keepScan(kept("a", { answers: { 4: "x" }, ignoreUnpaid: true }));
    await keepScan(kept("b", { type: "exit", list: 8 }));
    answer = () => results([201, { status: "ok" }], [201, { status: "ok" }]);
    await uploadUntil(() => states().every(([, state]) => state === "stored"));
    expect(asked).toHaveLength(1);
    expect(sentOf(asked[0] as Asked)).toMatchObject([
      {
        lists: [7],
        secret: "code a",
        nonce: "a",
        datetime: "2026-11-18T11:06:40.000Z",
        answers: { 4: "x" },
        ignore_unpaid: true,
        force: false,
      },
      { lists: [8], secret: "code b", nonce: "b", type: "exit" },
    ]);
  });

  it("[G6.5] are forced where the server would have refused them, and a crew is told why", async () => {
    await keepScan(kept("a"));
    await keepScan(kept("b"));
    answer = ({ body }) =>
      results(
        ...(body["scans"] as { nonce: string; force: boolean }[]).map(({ nonce, force }) =>
          nonce === "a" || force
            ? ([201, { status: "ok" }] as const)
            : ([400, { status: "error", reason: "already_redeemed" }] as const),
        ),
      );
    await uploadUntil(() => states().every(([, state]) => state !== "waiting"));
    expect(states()).toEqual([
      ["a", "stored", undefined],
      ["b", "doubtful", "already_redeemed"],
    ]);
    expect(asked.map((each) => sentOf(each).map(({ nonce, force }) => [nonce, force]))).toEqual([
      [
        ["a", false],
        ["b", false],
      ],
      [["b", true]],
    ]);
  });

  it("[G6.5] of a supervisor are forced at once, and are no doubt", async () => {
    await keepScan(kept("a", { force: true }));
    answer = () => results([201, { status: "ok" }]);
    await uploadUntil(() => states()[0]?.[1] === "stored");
    expect(sentOf(asked[0] as Asked)[0]).toMatchObject({ force: true });
  });

  it("[G6.5] are told where even force does not help: no ticket has the code", async () => {
    await keepScan(kept("a"));
    answer = () => results([404, { status: "error", reason: "invalid" }]);
    await uploadUntil(() => states()[0]?.[1] === "doubtful");
    expect(states()).toEqual([["a", "doubtful", "invalid"]]);
    expect(asked).toHaveLength(2);
  });

  it("[G6.2] come again after 429, 503 and no answer, and where the server stopped before them", async () => {
    await keepScan(kept("a"));
    await keepScan(kept("b"));
    const answers = [
      { status: 503, body: { detail: "later" } },
      results([503, { detail: "later" }], [201, { status: "ok" }]),
      { status: 200, body: { results: [], next: 0 } },
      results([201, { status: "ok" }]),
    ];
    answer = () => answers.shift() ?? results();
    vi.useFakeTimers({ shouldAdvanceTime: true, advanceTimeDelta: 1000 });
    await uploadUntil(() => states().every(([, state]) => state === "stored"));
    vi.useRealTimers();
    expect(asked.map((each) => sentOf(each).map(({ nonce }) => nonce))).toEqual([["a", "b"], ["a", "b"], ["a"], ["a"]]);
  });
});

it("[F4.10] a doubtful scan counts until the feed has told it, and is shown until a person has seen it", async () => {
  await keepScan(kept("a", { state: "doubtful", since: 1000 }));
  await dropTold(2000);
  expect(ownScans("big")).toHaveLength(1);
  await dropTold(9000);
  expect([ownScans("big"), states()]).toEqual([[], [["a", "doubtful", undefined]]]);
});

describe("scans that this page refused", () => {
  it("[G6.7] go to the history of the list, and are no more here", async () => {
    await keepScan(kept("a", { ticket: null, reason: "unpaid" }));
    answer = () => ({ status: 201, body: {} });
    await uploadUntil(() => keptScans.value.length === 0);
    expect(asked).toMatchObject([
      {
        path: "events/fest/checkinlists/7/failed_checkins/",
        body: {
          error_reason: "unpaid",
          raw_barcode: "code a",
          nonce: "a",
          datetime: "2026-11-18T11:06:40.000Z",
          type: "entry",
        },
      },
    ]);
  });

  it("[G6.7] are taken back first where the server may have admitted the ticket", async () => {
    await keepScan(kept("a", { ticket: null, reason: "invalid", wasAsked: true }));
    answer = ({ path }) => ({ status: path.endsWith("annul/") ? 404 : 201, body: {} });
    await uploadUntil(() => keptScans.value.length === 0);
    expect(asked.map(({ path }) => path)).toEqual(["checkinrpc/annul/", "events/fest/checkinlists/7/failed_checkins/"]);
  });

  it("[G6.7] are taken back as of then, however long the network was away", async () => {
    await keepScan(kept("a", { ticket: null, reason: "invalid", wasAsked: true }));
    answer = ({ path }) => ({ status: path.endsWith("annul/") ? 200 : 201, body: {} });
    await uploadUntil(() => keptScans.value.length === 0);
    expect(asked[0]?.body).toMatchObject({ nonce: "a", lists: [7], datetime: "2026-11-18T11:06:40.000Z" });
  });

  it("[G6.7] are admitted once more where the same nonce was admitted while it was taken back", async () => {
    await keepScan(kept("a", { ticket: null, reason: "invalid", wasAsked: true }));
    answer = ({ path }) => {
      if (!path.endsWith("annul/")) return results([201, { status: "ok" }]);
      void keepScan(kept("a", { state: "stored" }));
      return { status: 200, body: { status: "ok" } };
    };
    await uploadUntil(() => asked.length === 2 && states()[0]?.[1] === "stored");
    expect(asked.map(({ path }) => path)).toEqual(["checkinrpc/annul/", "checkinrpc/redeem_batch/"]);
  });
});

describe("a scan that the crew takes back", () => {
  const takeBack = () => annulScan(device, { attempt: { nonce: "a" } } as PastVerdict, "Wrong person");

  it("[G6.7] while it is uploaded is taken back on the server, too", async () => {
    await keepScan(kept("a"));
    answer = ({ path }) => {
      if (path.endsWith("redeem_batch/")) void takeBack();
      return path.endsWith("redeem_batch/") ? results([201, { status: "ok" }]) : { status: 200, body: {} };
    };
    await uploadUntil(() => keptScans.value.length === 0);
    expect(asked.map(({ path }) => path)).toEqual([
      ...["checkinrpc/redeem_batch/", "checkinrpc/annul/"],
      "events/fest/checkinlists/7/failed_checkins/",
    ]);
  });

  it("[G6.7] after its upload was lost, too", async () => {
    await keepScan(kept("a"));
    answer = ({ path }) => (path.endsWith("redeem_batch/") ? undefined : { status: 200, body: {} });
    await uploadUntil(() => asked.length === 1);
    expect(await takeBack()).toEqual({ kind: "done" });
    connection.value = "online";
    await uploadUntil(() => keptScans.value.length === 0);
    expect(asked.map(({ path }) => path)).toContain("checkinrpc/annul/");
  });
});

describe("scans that this browser made as another device", () => {
  it("[G6.9] are uploaded as that one, after its own", async () => {
    await keepScan(kept("a", { organizer: "small", token: "former" }));
    await keepScan(kept("b"));
    answer = () => results([201, { status: "ok" }]);
    await uploadUntil(() => states().every(([, state]) => state === "stored"));
    expect(asked.map(({ path, token }) => [path, token])).toEqual([
      ["checkinrpc/redeem_batch/", "Device t"],
      ["/api/v1/organizers/small/checkinrpc/redeem_batch/", "Device former"],
    ]);
  });

  it("[G6.9] are dropped where that one has no access any more, and those of this one are not", async () => {
    await keepScan(kept("a", { token: "former" }));
    answer = () => ({ status: 401, body: { detail: "Device access has been revoked." } });
    await uploadUntil(() => keptScans.value.length === 0);
    await keepScan(kept("b"));
    await uploadUntil(() => asked.length === 2);
    expect(states()).toEqual([["b", "waiting", undefined]]);
  });

  it("[G6.9] decide no scan of this one", async () => {
    await keepScan(kept("a", { organizer: "small" }));
    await keepScan(kept("b"));
    expect([ownScans("small"), ownScans("big")].map((own) => own.map(({ nonce }) => nonce))).toEqual([["a"], ["b"]]);
  });
});
