import { hash } from "node:crypto";
import { Fault } from "@tessera/kit/fault";
import { DocumentKind } from "@tessera/protos/gen/ticketing/boxoffice/v1/catalogue";
import type { ShownDevice } from "@tessera/protos/gen/ticketing/boxoffice/v1/devices";
import { beforeEach, describe, expect, it } from "vitest";
import { aList } from "../../testing/fake-peers.ts";
import { appOfEachTest, devices, freshToken, keys } from "../../testing/serve-app.ts";

const app = appOfEachTest();
const sha256 = (text: string) => hash("sha256", text, "buffer");

const stored: ShownDevice = {
  organizer: "bigevents",
  serial: "9F2C51D07AB34E18",
  gateName: "North",
  credential: {
    id: "3",
    revision: 8,
    fields: {
      device: {
        ...{ name: "north", gate: 7, securityProfile: "pretixscan", softwareBrand: "scan" },
        ...{ allEvents: true, events: [], revoked: false },
      },
    },
  },
};
const shown = {
  organizer: "bigevents",
  device_id: 3,
  unique_serial: "9F2C51D07AB34E18",
  name: "north",
  security_profile: "pretixscan",
  gate: { id: 7, name: "North" },
};
/** As the library of the apps sends it. */
const said = {
  hardware_brand: "Samsung",
  hardware_model: "G525F",
  os_name: "Android",
  os_version: "13",
  software_brand: "pretixSCAN Android",
  software_version: "2.3.1",
};
const machine = {
  hardwareBrand: "Samsung",
  hardwareModel: "G525F",
  osName: "Android",
  osVersion: "13",
  softwareBrand: "pretixSCAN Android",
  softwareVersion: "2.3.1",
};
const version = { pretix: "4.12.0", pretix_numeric: 40120001001 };

const send = (
  method: string,
  name: string,
  { body, key = devices.scan }: { body?: object; key?: string | null } = {},
) => app.send(method, `/api/v1/${name}`, { key, ...(body === undefined ? {} : { body }) });

beforeEach(() => {
  for (const method of ["initializeDevice", "getDevice", "updateDevice", "rollDevice"] as const)
    app.peers.when("devices", method, async () => ({ device: stored }));
  app.peers.when("credentials", "revokeCredential", async () => ({ credential: stored.credential }));
  app.peers.when("checkinLists", "findSharedIds", async () => ({ lists: [] }));
});

describe("a scanner", () => {
  it("[E3.1] is set up with a code, without credentials, and gets a token that only the answer holds", async () => {
    const answer = await send("POST", "device/initialize", {
      key: null,
      body: { token: " kpp4jn8g2ynznnp6 ", ...said },
    });
    expect([answer.status, answer.json]).toEqual([200, { ...shown, api_token: freshToken }]);
    expect(app.peers.requestsOf("initializeDevice")).toEqual([
      { setupHash: sha256("kpp4jn8g2ynznnp6"), tokenHash: sha256(freshToken), machine },
    ]);
    expect(JSON.stringify(app.logged)).not.toMatch(/kpp4jn8g2ynznnp6|fresh/);
  });

  it("[E3.2] is told what is wrong with its code", async () => {
    app.peers.when("devices", "initializeDevice", async () => {
      throw new Fault("invalid", "setup_refused", "no", { fields: { token: ["It was used."] } });
    });
    expect(await send("POST", "device/initialize", { key: null, body: { token: "x" } })).toMatchObject({
      status: 400,
      json: { token: ["It was used."] },
    });
    expect(await send("POST", "device/initialize", { key: null, body: { os_name: 5 } })).toMatchObject({
      status: 400,
      json: { token: [expect.any(String)] },
    });
  });

  it("[E3.4] tells what it runs on, and more than that", async () => {
    const more = { info: { charging: true }, rsa_pubkey: "abc" };
    expect(await send("POST", "device/update", { body: { ...said, ...more } })).toMatchObject({
      status: 200,
      json: shown,
    });
    expect(app.peers.requestsOf("updateDevice")).toMatchObject([{ organizer: "bigevents", machine }]);
  });

  it("[E3.5] gets another token", async () => {
    expect((await send("POST", "device/roll", { body: {} })).json).toEqual({ ...shown, api_token: freshToken });
    expect(app.peers.requestsOf("rollDevice")).toMatchObject([
      { organizer: "bigevents", tokenHash: sha256(freshToken), formerHash: sha256(devices.scan) },
    ]);
    app.peers.when("devices", "rollDevice", async () => {
      throw new Fault("unauthenticated", "token_replaced", "This token is not valid.");
    });
    expect(await send("POST", "device/roll", { body: {} })).toMatchObject({
      ...{ status: 401, json: { detail: "This token is not valid." } },
      headers: { "www-authenticate": "Token" },
    });
  });

  it("[E3.8] learns what it is, and which routes to use", async () => {
    expect((await send("GET", "device/info")).json).toEqual({
      device: shown,
      server: { version },
      medium_key_sets: [],
    });
    expect((await send("GET", "version")).json).toEqual(version);
    expect(version.pretix_numeric).toBeGreaterThanOrEqual(40_120_001_001);
  });

  it("[E3.8] uses the routes of one list where an id names lists of several of its events", async () => {
    app.peers.when("checkinLists", "findSharedIds", async () => ({ lists: [1] }));
    for (const path of ["device/info", "version"]) {
      const { json } = await send("GET", path);
      const told = (
        path === "version" ? json : (json as { server: { version: object } }).server.version
      ) as typeof version;
      expect(told.pretix_numeric).toBeLessThan(40_120_001_001);
    }
    await send("GET", "version", { key: keys.otherEvent });
    expect(app.peers.requestsOf("findSharedIds")).toMatchObject([
      { organizer: "bigevents" },
      { organizer: "bigevents" },
      { organizer: "bigevents", among: { slugs: ["other"] } },
    ]);
  });

  it("[E3.9] ends its own access", async () => {
    expect(await send("POST", "device/revoke", { body: {} })).toMatchObject({ status: 200, json: shown });
    const [{ id }] = app.peers.requestsOf("getDevice") as [{ id: string }];
    expect(app.peers.requestsOf("revokeCredential")).toMatchObject([{ organizer: "bigevents", id }]);
    expect(await send("GET", "device/info", { key: devices.revoked })).toMatchObject({
      status: 401,
      json: { detail: "Device access has been revoked." },
    });
  });

  describe("that asks which event to scan", () => {
    const asJson = (event: string, data: object) => ({ event, json: Buffer.from(JSON.stringify(data)) });
    const fest = { slug: "fest", name: { en: "Fest" }, date_from: "2027-06-02T10:00:00Z", has_subevents: false };
    const series = { slug: "series", name: { en: "Series" }, date_from: "2020-01-01T00:00:00Z", has_subevents: true };
    const night = (date_from: string) => ({ id: 5, date_from });
    const found = (events: readonly object[], dates: readonly object[]) =>
      app.peers.when("catalogue", "listDocuments", async ({ kind }) => ({
        documents:
          kind === DocumentKind.EVENT
            ? events.map((event) => asJson("", event))
            : dates.map((date) => asJson("series", date)),
        ...{ count: 1, page: 1, asOf: 1, isUnchanged: false },
      }));
    const select = (query = "") => send("GET", `device/eventselection${query}`);
    const nothing = { lists: [], count: 0, page: 1, changedAt: undefined, isUnchanged: false };
    const listed = (id?: number) =>
      app.peers.when("checkinLists", "listCheckinLists", async () =>
        id === undefined ? nothing : { ...nothing, lists: [aList({}, id)], count: 1 },
      );

    it.each([
      ["the only event", [fest], [], { event: "fest", subevent: null }],
      ["the event before a date", [series, fest], [night("2027-06-03T10:00:00Z")], { event: "fest", subevent: null }],
      ["the date before an event", [series, fest], [night("2027-06-01T10:00:00Z")], { event: "series", subevent: 5 }],
      ["a date", [series], [night("2027-06-01T10:00:00Z")], { event: "series", subevent: 5 }],
    ])("[E3.12] is told %s", async (_name, events, dates, { event, subevent }) => {
      found(events, dates);
      listed(9);
      const { status, json } = await select();
      expect([status, json]).toMatchObject([200, { event: { slug: event }, subevent, checkinlist: 9 }]);
      expect(app.peers.requestsOf("listCheckinLists")).toMatchObject([{ organizer: "bigevents", event }]);
      const current = `?current_event=${event}${subevent === null ? "" : `&current_subevent=${subevent}`}`;
      expect((await select(`${current}&current_checkinlist=4`)).status).toBe(304);
      expect((await select(current)).status).toBe(200);
      listed();
      expect((await select(current)).status).toBe(304);
    });

    it("[E3.12] is told nothing where all have ended", async () => {
      found([], []);
      expect(await select()).toMatchObject({ status: 404, json: { detail: expect.any(String) } });
      found([series], []);
      expect((await select()).status).toBe(404);
    });
  });

  it.each([
    ["GET", "device/info"],
    ["GET", "device/eventselection"],
    ["POST", "device/update"],
    ["POST", "device/roll"],
    ["POST", "device/revoke"],
  ])("[E3.10] is none with an API key: %s %s", async (method, name) => {
    const body = method === "GET" ? {} : { body: {} };
    expect((await send(method, name, { key: keys.all, ...body })).status).toBe(403);
    expect((await send(method, name, { key: null, ...body })).status).toBe(401);
    expect(app.peers.calls.map(({ method: called }) => called)).toEqual([]);
  });
});
