import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { devices, inEvent, keys } from "../testing/serve-app.ts";
import { noRoom, redeemPath, roomForAll, type ServedCrowd, serveCrowd } from "../testing/serve-crowd.ts";

let app: ServedCrowd;
beforeAll(async () => {
  app = await serveCrowd();
});
afterAll(() => app.close());

interface Options {
  readonly code?: string;
  readonly key?: string;
  readonly event?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function scan(code: string, { key = keys.all, event = inEvent, query = "", headers = {} }: Options = {}) {
  return app.send("POST", `${redeemPath(code, event)}${query}`, { key, headers, body: { nonce: code } });
}

it("[C3.47] a scan without room is refused, whatever it says, and has no line in the log", async () => {
  app.logged.splice(0);
  const headers = { "x-request-id": "gate-3-scan-17" };
  expect(await scan("abc", { headers })).toMatchObject({ status: 429, headers: { "retry-after": "1", ...headers } });
  expect(app.logged.filter(({ level }) => level !== "debug")).toEqual([]);
  app.crowd = roomForAll;
  expect(await scan("abc")).toMatchObject({ status: 201 });
  app.crowd = noRoom;
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
    expect(await app.send("OPTIONS", redeemPath("abc"))).toMatchObject({ status: 200 });
  });
});
