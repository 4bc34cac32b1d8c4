import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Attempt } from "./one-scan.ts";
import { sendScan } from "./send-scan.ts";
import type { KeptDevice } from "./set-up/kept-device.ts";

const attempt: Attempt = {
  nonce: "n1",
  code: "a/b",
  type: "exit",
  at: 1000,
  ignoreUnpaid: false,
  force: false,
  answers: {},
};
const device: KeptDevice = {
  ...{
    token: "t",
    organizer: "big",
    number: 3,
    name: "North",
    profile: "full",
    gate: null,
    gateId: null,
    hasListIds: true,
  },
  chosen: { event: "fest", eventName: "Fest", list: 7, listName: "Main" },
};

let answers: (() => Response)[];
let asked: { url: string; nonce: unknown; body: Record<string, unknown> }[];
let told: string[];

beforeEach(() => {
  vi.useFakeTimers({ shouldAdvanceTime: true, advanceTimeDelta: 100 });
  [answers, asked, told] = [[], [], []];
  vi.stubGlobal("document", { baseURI: "https://tickets.example.com/shop/scan/" });
  vi.stubGlobal("fetch", async (url: URL, { body }: { body: string }) => {
    const sent = JSON.parse(body) as Record<string, unknown>;
    asked.push({ url: url.href, nonce: sent["nonce"], body: sent });
    const answer = answers.shift();
    if (answer === undefined) throw new TypeError("no network");
    return answer();
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const reply =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  () =>
    new Response(typeof body === "string" ? body : JSON.stringify(body), { status, headers });

const send = (changes: Partial<KeptDevice> = {}, more: Partial<Attempt> = {}) =>
  sendScan(
    { ...attempt, ...more },
    { ...device, ...changes },
    {
      tell: (happening) => void told.push(happening.what),
      lose: (why) => void told.push(why),
    },
  );

describe("[G3.2] a scan", () => {
  it("that meets 503 and 429 is sent again with its nonce, after the pause that they ask for", async () => {
    answers = [
      reply(503, { detail: "later" }, { "Retry-After": "1" }),
      reply(429, { detail: "later" }),
      reply(201, { status: "ok" }),
    ];
    await send();
    expect(told.filter((what) => what !== "slow")).toEqual(["failed", "failed", "answered"]);
    expect(asked.map(({ nonce }) => nonce)).toEqual(["n1", "n1", "n1"]);
  });

  it("[G3.13] without a network and without a copy of the event is given up soon, and nothing is kept", async () => {
    await send();
    expect(told.at(-1)).toBe("gave-up");
    expect(new Set(asked.map(({ nonce }) => nonce))).toEqual(new Set(["n1"]));
    expect(asked.length).toBeGreaterThan(1);
  });

  it.each([
    ["an error page", 502, "<html>"],
    ["a pause that is too long", 503, ""],
  ])("that meets %s is given up after the wait for the verdict", async (_name, status, body) => {
    answers = Array.from({ length: 100 }, () => reply(status, body, { "Retry-After": "60" }));
    await send();
    expect([told.at(-1), asked.length]).toEqual(["gave-up", 1]);
  });

  it.each([
    ["revoked", "Device access has been revoked."],
    ["unknown", "This token is not valid."],
  ])("of a device that is %s decides nothing", async (why, detail) => {
    answers = [reply(401, { detail })];
    await send();
    expect(told).toEqual([why]);
  });
});

describe("a scan is asked for", () => {
  it("by the id of its list", async () => {
    answers = [reply(201, { status: "ok" })];
    await send();
    const base = "https://tickets.example.com/shop/api/v1/organizers/big";
    expect(asked).toMatchObject([
      {
        url: `${base}/checkinrpc/redeem/?expand=item&expand=variation`,
        body: { secret: "a/b", lists: [7], type: "exit" },
      },
    ]);
  });

  it("[G3.15] with the medium that its ticket is exchanged for", async () => {
    answers = [reply(201, { status: "ok" })];
    await send({}, { medium: { type: "barcode", identifier: "band-7" } });
    expect(asked).toMatchObject([{ body: { exchange_medium_type: "barcode", exchange_medium_identifier: "band-7" } }]);
  });

  it("on the list of its event where lists of several events have one id", async () => {
    answers = [reply(200, { status: "error", reason: "canceled" })];
    await send({ hasListIds: false });
    expect(asked).toMatchObject([
      {
        url: expect.stringContaining("/events/fest/checkinlists/7/positions/a%2Fb/redeem/?untrusted_input&"),
        body: { canceled_supported: true, questions_supported: true },
      },
    ]);
    expect(told).toEqual(["answered"]);
  });
});
