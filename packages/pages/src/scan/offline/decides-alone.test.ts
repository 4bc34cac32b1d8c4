import { createHmac } from "node:crypto";
import { PackWriter } from "@tessera/values";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Attempt } from "../one-scan.ts";
import { sendScan } from "../send-scan.ts";
import { connection } from "../server/ask-server.ts";
import type { KeptDevice } from "../set-up/kept-device.ts";
import { canDecideHere } from "./decide-here.ts";
import { dropCopy, takePacks } from "./event-copy.ts";
import { followFeed } from "./follow-feed.ts";
import { findUnanswered, forgetScans, keptScans } from "./kept-scans.ts";

const device: KeptDevice = {
  ...{ token: "t", organizer: "big", number: 3, name: "North", profile: "full", gate: null, gateId: null },
  ...{ hasListIds: true, chosen: { event: "fest", eventName: "Fest", list: 7, listName: "Main" } },
};
const attempt: Attempt = {
  ...{ nonce: "n", code: "t1", type: "entry", at: 1_795_000_000_000, ignoreUnpaid: false, force: false, answers: {} },
};
const key = Buffer.from("a key");

/** The pack of an event with one ticket. */
function packOf({ timezone = "Europe/Berlin", more = [] as object[] } = {}): Uint8Array {
  const list = {
    ...{ name: "Main", all_products: true, limit_products: [], subevent: null, include_pending: false },
    rules: { "<": [{ var: "entries_today" }, 1] },
    ...{ allow_multiple_entries: false, allow_entry_after_exit: false, addon_match: false },
  };
  const event = {
    ...{ timezone, locale: "en", reusable_media_usage_enforced: false },
    ...{ date_from: null, date_to: null, date_admission: null },
  };
  const entities = [{ kind: "event", id: 0, data: event }, { kind: "list", id: 7, data: list }, ...more];
  const writer = new PackWriter();
  writer.add(
    {
      ...{ hash: createHmac("sha256", key).update("t1").digest().subarray(0, 8), id: 1, item: 10, variation: null },
      ...{ subevent: null, status: "paid", validIfPending: false, requireApproval: false, canceled: false },
      ...{ blocked: false, requireAttention: false, validFrom: null, validUntil: null, locale: "en" },
      ...{ addonTo: null, answered: [] },
    },
    [],
  );
  const info = { event: "fest", entities, key: key.toString("base64"), cursor: "c1", next: null };
  return new Uint8Array(Buffer.concat([...writer.parts(info)]));
}

const take = (organizer: string, how: Parameters<typeof packOf>[0] = {}) =>
  takePacks({ organizer, event: "fest", packs: [packOf(how)], cursor: "c1" });

let answer: (path: string) => Response | undefined;
let asked: string[];
let told: string[];

beforeEach(() => {
  [asked, told] = [[], []];
  connection.value = "online";
  answer = () => undefined;
  vi.stubGlobal("document", { baseURI: "https://tickets.example.com/scan/" });
  vi.stubGlobal("fetch", async (url: URL) => {
    asked.push(url.pathname);
    await new Promise((resolve) => setImmediate(resolve));
    const said = answer(url.pathname);
    if (said === undefined) throw new TypeError("no network");
    return said;
  });
});
afterEach(() => {
  forgetScans();
  dropCopy();
  connection.value = "online";
  vi.unstubAllGlobals();
});

const send = (changes: Partial<Attempt> = {}) =>
  sendScan({ ...attempt, ...changes }, device, {
    tell: (happening) => {
      if (happening.what === "answered") told.push(happening.verdict.reason || happening.verdict.kind);
    },
    lose: (why) => void told.push(why),
  });

describe("a page without a network", () => {
  it("[G6.1] decides by its copy", async () => {
    await take("big");
    await send();
    await send({ nonce: "m" });
    expect([told, asked]).toEqual([["admitted", "rules"], [expect.stringContaining("redeem")]]);
  });

  it("[G6.7] remembers that the server may have admitted a ticket, also after it was refused again", async () => {
    await take("big");
    await send({ code: "sold since" });
    await send({ code: "sold since" });
    expect(told).toEqual(["invalid", "invalid"]);
    expect(asked).toHaveLength(1);
    expect(keptScans.value).toMatchObject([{ nonce: "n", ticket: null, wasAsked: true }]);
    expect(findUnanswered({ code: "sold since", type: "entry", list: 7, token: "t" })).toBe("n");
  });

  it("[G6.9] does not decide by the copy of another organizer", async () => {
    await take("small");
    expect(canDecideHere(device)).toBe(false);
    expect(canDecideHere({ ...device, organizer: "small" })).toBe(true);
  });

  it("[G6.1] lets the server decide where this browser does not know the time zone", async () => {
    await take("big", { timezone: "Moon/Tranquility" });
    expect(canDecideHere(device)).toBe(false);
  });

  it("[G6.1] lets the server decide what it cannot read, such as questions of another kind", async () => {
    const question = { items: [10], position: 1, ask_during_checkin: true };
    await take("big", { more: [{ kind: "question", id: 1, data: question }] });
    answer = () => (asked.length < 2 ? undefined : new Response('{"status":"ok"}', { status: 201 }));
    await send();
    expect(told).toEqual(["admitted"]);
    expect(asked).toHaveLength(2);
  });
});

it("[G6.3] new packs are not fetched without a pause where the feed follows none", async () => {
  await take("big");
  answer = (path) =>
    path.endsWith("pack/") ? new Response(Buffer.from(packOf())) : new Response("{}", { status: 410 });
  const stop = new AbortController();
  const following = followFeed(device, "fest", stop.signal);
  await new Promise((resolve) => setTimeout(resolve, 600));
  stop.abort();
  await following;
  expect(asked.filter((path) => path.endsWith("pack/"))).toHaveLength(1);
});
