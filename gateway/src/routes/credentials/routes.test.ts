import { hash } from "node:crypto";
import { Fault } from "@tessera/kit/fault";
import type {
  Credential,
  ListCredentialsRequest,
  ListCredentialsResponse,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import { CredentialKind } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { DeviceContact } from "../../store/device-contacts.ts";
import { requireDocumented } from "../../testing/require-documented.ts";
import { devices, freshToken, keys, publicBase, type ServedApp, serveApp } from "../../testing/serve-app.ts";
import { setupCodeOf } from "../device/setup-code.ts";

const base = "/api/v1/organizers/bigevents";
const id = "0123456789abcdef".repeat(4);
const key: Credential = {
  id,
  revision: 7,
  fields: { apiKey: { name: "shop", permissions: ["*"], allEvents: false, events: ["sampleconf"], active: true } },
};
const device: Credential = {
  id: "3",
  revision: 8,
  fields: {
    device: {
      name: "north",
      gate: undefined,
      securityProfile: "full",
      softwareBrand: "",
      allEvents: true,
      events: [],
      revoked: false,
    },
  },
};
const { API_KEY, DEVICE } = CredentialKind;
const keyShown = {
  id: "0123456789abcdef",
  name: "shop",
  permissions: ["*"],
  all_events: false,
  events: ["sampleconf"],
  active: true,
};
const deviceShown = {
  device_id: 3,
  name: "north",
  gate: null,
  security_profile: "full",
  software_brand: "",
  all_events: true,
  events: [],
  revoked: false,
};
const noOrganizer = async () => {
  throw new Fault("not_found", "organizer_not_found", "There is no such organizer.");
};

let contacts: DeviceContact[];
let app: ServedApp;

async function serve(options: Parameters<typeof serveApp>[0] = {}) {
  contacts = [];
  app = await serveApp({ findContacts: async () => contacts, ...options });
  const one = async ({ kind }: { kind: CredentialKind }) => ({ credential: kind === API_KEY ? key : device });
  app.peers.when(
    "credentials",
    "listCredentials",
    async ({ kind }: ListCredentialsRequest): Promise<ListCredentialsResponse> =>
      kind === API_KEY ? { credentials: [key], count: 60, page: 1 } : { credentials: [device], count: 1, page: 1 },
  );
  app.peers.when("credentials", "createCredential", one);
  app.peers.when("credentials", "revokeCredential", one);
}

beforeEach(() => serve());
afterEach(async () => {
  requireDocumented(app);
  await app.close();
});

const send = (method: string, path: string, body?: unknown, as: string | null = keys.operator) =>
  app.send(method, `${base}/${path}`, { key: as, ...(body === undefined ? {} : { body }) });

describe("API keys", () => {
  it("[R9.3] are listed page by page, without tokens and with no more of their hash than finds them", async () => {
    const { status, json, text } = await send("GET", "apikeys/?page_size=50");
    const next = `${publicBase}${base}/apikeys/?page=2&page_size=50`;
    expect([status, json]).toEqual([200, { count: 60, next, previous: null, results: [keyShown] }]);
    expect(text).not.toContain(id.slice(0, 17));
    expect(app.peers.requestsOf("listCredentials")).toEqual([
      { organizer: "bigevents", kind: API_KEY, page: 1, pageSize: 50 },
    ]);
  });

  it("[R9.2, R10.3, S2.1] are created with a token that only the answer holds", async () => {
    const body = { name: " shop ", permissions: ["can_view_orders"], events: ["sampleconf"] };
    const { status, json } = await send("POST", "apikeys/", body);
    expect([status, json]).toEqual([201, { ...keyShown, token: freshToken, settled: true }]);
    const fields = {
      name: "shop",
      permissions: ["can_view_orders"],
      allEvents: false,
      events: ["sampleconf"],
      active: true,
    };
    expect(app.peers.requestsOf("createCredential")).toEqual([
      {
        organizer: "bigevents",
        kind: API_KEY,
        tokenHash: hash("sha256", freshToken, "buffer"),
        fields: { apiKey: fields },
      },
    ]);
    expect(JSON.stringify(app.logged)).not.toContain(freshToken);
  });

  it("[R9.4] are revoked by their id or a part of it", async () => {
    expect(await send("POST", "apikeys/01234567/revoke/")).toMatchObject({
      status: 200,
      json: { ...keyShown, settled: true },
    });
    expect(app.peers.requestsOf("revokeCredential")).toEqual([
      { organizer: "bigevents", kind: API_KEY, id: "01234567" },
    ]);
  });
});

describe("devices", () => {
  const unheard = { last_contact: null, last_sync: null, queue_length: null, battery_level: null };

  it("[F5.4] are listed with what was heard of them", async () => {
    const list = async () => (await send("GET", "devices/")).json;
    expect(await list()).toEqual({ count: 1, next: null, previous: null, results: [{ ...deviceShown, ...unheard }] });
    contacts = [{ organizer: "bigevents", device: 3, seenAt: 0, syncedAt: 1_000_000, queue: 0, battery: 7 }];
    expect(await list()).toMatchObject({
      results: [
        {
          ...{ last_contact: "1970-01-01T00:00:00Z", last_sync: "1970-01-01T00:00:01Z" },
          ...{ queue_length: 0, battery_level: 7 },
        },
      ],
    });
  });

  it("[E3.11, R9.9] are created as their body says, or by default with the profile that is limited by nothing", async () => {
    const sent = { name: "north", gate: "7", security_profile: "pretixscan", software_brand: "scan", all_events: true };
    const { status, json } = await send("POST", "devices/", sent);
    const code = setupCodeOf(freshToken);
    const setup = JSON.stringify({ handshake_version: 1, url: publicBase, token: code });
    expect([status, json]).toEqual([
      201,
      { ...deviceShown, token: freshToken, initialization_token: code, setup, settled: true },
    ]);
    await send("POST", "devices/", { name: "north", security_profile: null, software_brand: null });
    const unset = { gate: undefined, securityProfile: "full", softwareBrand: "", allEvents: false };
    expect(app.peers.requestsOf("createCredential")).toMatchObject([
      {
        setupHash: hash("sha256", code, "buffer"),
        fields: { device: { gate: 7, securityProfile: "pretixscan", softwareBrand: "scan", allEvents: true } },
      },
      { kind: DEVICE, fields: { device: unset } },
    ]);
  });

  it("[R9.5] are revoked by their number", async () => {
    expect(await send("POST", "devices/3/revoke/")).toMatchObject({
      status: 200,
      json: { ...deviceShown, settled: true },
    });
    expect(app.peers.requestsOf("revokeCredential")).toEqual([{ organizer: "bigevents", kind: DEVICE, id: "3" }]);
    for (const number of ["0", "x", "-1"]) expect((await send("POST", `devices/${number}/revoke/`)).status).toBe(404);
  });
});

it("a form creates them, too: what it leaves out is not switched off", async () => {
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const body = "name=shop&events=sampleconf&events=other";
  expect((await app.send("POST", `${base}/apikeys/`, { key: keys.operator, headers, body })).status).toBe(201);
  expect(app.peers.requestsOf("createCredential")).toMatchObject([
    { fields: { apiKey: { active: true, events: ["sampleconf", "other"] } } },
  ]);
});

it("[R9.11] a bad body is reported field by field, but a missing organizer first", async () => {
  const bad = { name: "", permissions: "*", events: [1, "a b"], all_events: "perhaps" };
  const { status, json } = await send("POST", "apikeys/", bad);
  expect([status, Object.keys(json as object).sort()]).toEqual([400, ["all_events", "events", "name", "permissions"]]);
  expect(await send("POST", "devices/", { gate: "north" })).toMatchObject({
    status: 400,
    json: { name: [expect.anything()], gate: [expect.anything()] },
  });
  app.peers.when("credentials", "listCredentials", noOrganizer);
  expect((await send("POST", "apikeys/", bad)).status).toBe(404);
  expect(await send("GET", "apikeys/")).toMatchObject({ status: 404, json: { detail: "There is no such organizer." } });
});

it("[R9.11] errors of boxoffice are reported under the names of the fields", async () => {
  const fields = { permissions: ["Element 1: There is no permission of this name."], events: ["Element 1: not known"] };
  app.peers.when("credentials", "createCredential", async () => {
    throw new Fault("invalid", "invalid_credential", "not valid", { fields });
  });
  expect(await send("POST", "apikeys/", { name: "shop" })).toMatchObject({ status: 400, json: fields });
});

it("[R9.13] an answer says when gateways do not know of the change yet", async () => {
  await app.close();
  await serve({ copied: false });
  expect((await send("POST", "apikeys/", { name: "shop" })).json).toMatchObject({ token: freshToken, settled: false });
  expect((await send("POST", "devices/3/revoke/")).json).toMatchObject({ settled: false });
});

it.each([
  ["GET", "apikeys/"],
  ["POST", "apikeys/"],
  ["POST", "apikeys/01234567/revoke/"],
  ["GET", "devices/"],
  ["POST", "devices/"],
  ["POST", "devices/3/revoke/"],
])("[R9.1, S5.4] %s %s belongs to the operator", async (method, path) => {
  expect((await send(method, path, undefined, null)).status).toBe(401);
  expect((await send(method, path, undefined, "nobody")).status).toBe(401);
  for (const as of [keys.all, keys.settings, devices.full]) expect((await send(method, path, {}, as)).status).toBe(403);
  expect(app.peers.calls).toEqual([]);
});
