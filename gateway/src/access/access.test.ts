import { diskFiles } from "@tessera/engines/files/disk";
import { devicePermissions, everyPermission, permissions, scanProfiles, usedPermissions } from "@tessera/values";
import { describe, expect, it } from "vitest";
import { routesLike, toEndpoints } from "../http/endpoint.ts";
import { recordOwners } from "../import/owners.ts";
import { openApi } from "../routes/documentation/openapi.ts";
import { allRoutes } from "../routes/index.ts";
import { fakePeers } from "../testing/fake-peers.ts";
import { type Caller, operator, type Tenant } from "./caller.ts";
import type { IdentityProvider } from "./identity-provider.ts";
import { mayUse } from "./may-use.ts";
import type { Sessions } from "./sessions.ts";

const { clients } = fakePeers();
const routes = allRoutes({
  clients,
  hasOfflineSales: true,
  importTargets: {
    isOperatorKey: () => false,
    owners: recordOwners(clients),
    readers: new Map(),
    quotas: clients.quotas,
    tickets: clients.tickets,
  },
  uploadTargets: {
    files: diskFiles({ directory: "never-made" }),
    record: async ({ id }) => id,
    now: () => 0,
    maxBytes: 0,
    countOutstanding: () => Promise.reject(new Error("nothing is uploaded here")),
    mostOutstanding: { files: 0, size: 0 },
  },
  files: diskFiles({ directory: "never-made" }),
  findAnswer: async () => undefined,
  credentials: { makeToken: () => "", untilCopied: async () => true },
  contacts: { noteSync: () => {} },
  findContacts: async () => [],
  findHeard: async () => [],
  findDeviceNames: async () => new Map(),
  sessions: {} as Sessions,
  identityProvider: {} as IdentityProvider,
  findEvents: async () => new Set(),
  stopping: new AbortController().signal,
  refusedStatus: "ok",
  findUploads: async () => [],
  expireDropped: async () => {},
  baseUrl: () => "http://localhost",
  version: "0.0.0",
  demoKeys: { apiKey: undefined, deviceKey: undefined },
});
const endpoints = toEndpoints(routes);
const document = openApi(routes, { server: "http://localhost", version: "0.0.0" }) as {
  paths: Record<string, Record<string, { description?: string }>>;
};

describe("the permissions that people are told of", () => {
  it("are those that open a route", () => {
    const asked = routes.flatMap(({ access }) => {
      if (access.kind === "records") return ["organizer.records:write"];
      return "anyOf" in access ? [...access.anyOf] : [];
    });
    expect([...usedPermissions.keys()].sort()).toEqual([...new Set(asked)].sort());
  });
});

const tenant = (overrides: Partial<Tenant>): Tenant => ({
  kind: "api_key",
  id: "x",
  name: "x",
  logId: "x",
  countedAs: "x",
  organizer: "o",
  permissions: new Set(),
  events: undefined,
  profile: "full",
  device: undefined,
  ...overrides,
});

const inEvent = "/api/v1/organizers/{organizer}/events/{event}/";
const short = (path: string) => path.replace(inEvent, "");

const lists = ["event.orders:read", "event.orders:checkin"];
const settings = ["event.settings.general:write"];
const readOrders = ["event.orders:read"];
const writeOrders = ["event.orders:write"];
const readVouchers = ["event.vouchers:read"];
const writeVouchers = ["event.vouchers:write"];
const scans = ["event.orders:write", "event.orders:checkin"];
const all = ["pretixscan", "pretixscan_online_kiosk", "pretixscan_online_noorders"];
const staff = ["pretixscan", "pretixscan_online_noorders"];
const none: string[] = [];
const everywhere = " in all events of the organizer, and an API key";

/** The table of the specification: which permissions and which profiles open a route. */
const table: Record<
  string,
  {
    permissions: string[] | "public" | "any" | "event" | "member" | "operator" | "person";
    profiles: string[];
    where?: string;
    andOperator?: true;
  }
> = {
  "POST checkinlists/{list}/positions/{lookup+}/redeem/": { permissions: scans, profiles: all },
  "GET checkinlists/{list}/positions/{lookup+}/explain/": { permissions: lists, profiles: staff },
  "POST /api/v1/organizers/{organizer}/checkinrpc/redeem/": { permissions: scans, profiles: all },
  "POST /api/v1/organizers/{organizer}/checkinrpc/redeem_batch/": { permissions: scans, profiles: all },
  "GET /api/v1/organizers/{organizer}/checkinrpc/search/": { permissions: lists, profiles: staff },
  "GET /api/v1/organizers/{organizer}/sync/": { permissions: lists, profiles: all },
  "GET live/": { permissions: lists, profiles: none },
  "GET live/hour/": { permissions: lists, profiles: none },
  "GET alarms/": { permissions: lists, profiles: none },
  "POST alarms/{id}/acknowledge/": { permissions: lists, profiles: none },
  "GET pack/": { permissions: lists, profiles: all },
  "POST /api/v1/organizers/{organizer}/checkinrpc/annul/": { permissions: scans, profiles: all },
  "GET /api/v1/organizers/{organizer}/events/": { permissions: "member", profiles: all },
  "GET ": { permissions: "event", profiles: all },
  "GET settings/": { permissions: "event", profiles: all },
  "GET /api/v1/organizers/{organizer}/subevents/": { permissions: "member", profiles: all },
  "GET subevents/": { permissions: "event", profiles: all },
  "GET subevents/{id}/": { permissions: "event", profiles: all },
  "GET categories/": { permissions: "event", profiles: all },
  "GET categories/{id}/": { permissions: "event", profiles: all },
  "GET items/": { permissions: "event", profiles: all },
  "GET items/{id}/": { permissions: "event", profiles: all },
  "GET questions/": { permissions: "event", profiles: all },
  "GET questions/{id}/": { permissions: "event", profiles: all },
  "GET quotas/": { permissions: "event", profiles: none },
  "GET quotas/{id}/": { permissions: "event", profiles: none },
  "GET quotas/{id}/availability/": { permissions: "event", profiles: none },
  "GET revokedsecrets/": { permissions: lists, profiles: all },
  "GET blockedsecrets/": { permissions: lists, profiles: all },
  "GET /api/v1/organizers/{organizer}/reusablemedia/": { permissions: lists, profiles: staff },
  "GET /api/v1/organizers/{organizer}/gates/": { permissions: "member", profiles: all },
  "GET badgelayouts/": { permissions: "event", profiles: all },
  "GET badgeitems/": { permissions: "event", profiles: all },
  "GET checkinlists/": { permissions: lists, profiles: all },
  "POST checkinlists/": { permissions: settings, profiles: none },
  "GET checkinlists/{id}/": { permissions: lists, profiles: none },
  "PATCH checkinlists/{id}/": { permissions: settings, profiles: none },
  "PUT checkinlists/{id}/": { permissions: settings, profiles: none },
  "DELETE checkinlists/{id}/": { permissions: settings, profiles: none },
  "DELETE checkinlist/{id}/": { permissions: settings, profiles: none },
  "GET checkinlists/{id}/status/": { permissions: lists, profiles: all },
  "GET checkinlists/{list}/positions/": { permissions: lists, profiles: staff },
  "GET checkinlists/{list}/positions/{id}/": { permissions: lists, profiles: none },
  "POST checkinlists/{list}/failed_checkins/": { permissions: scans, profiles: all },
  "GET checkins/": { permissions: ["event.orders:read"], profiles: none },
  "GET checkins/export/": { permissions: ["event.orders:read"], profiles: none },
  "GET checkins/report/": { permissions: ["event.orders:read"], profiles: none },
  "GET checkins/{id}/": { permissions: ["event.orders:read"], profiles: none },
  "GET doubles/": { permissions: readOrders, profiles: none },
  "GET doubles/counts/": { permissions: readOrders, profiles: none },
  "GET doubles/{id}/": { permissions: readOrders, profiles: none },
  "PATCH doubles/{id}/": { permissions: writeOrders, profiles: none },
  "GET vouchers/": { permissions: readVouchers, profiles: none },
  "POST vouchers/": { permissions: writeVouchers, profiles: none },
  "POST vouchers/batch_create/": { permissions: writeVouchers, profiles: none },
  "POST vouchers/check/": { permissions: readVouchers, profiles: none },
  "POST vouchers/reserve/": { permissions: writeVouchers, profiles: none },
  "POST vouchers/confirm/": { permissions: writeVouchers, profiles: none },
  "POST vouchers/release/": { permissions: writeVouchers, profiles: none },
  "GET vouchers/{id}/": { permissions: readVouchers, profiles: none },
  "PATCH vouchers/{id}/": { permissions: writeVouchers, profiles: none },
  "PUT vouchers/{id}/": { permissions: writeVouchers, profiles: none },
  "DELETE vouchers/{id}/": { permissions: writeVouchers, profiles: none },
  "GET ticketlayouts/": { permissions: "event", profiles: none },
  "POST ticketlayouts/": { permissions: settings, profiles: none },
  "POST ticketlayouts/preview/": { permissions: [...readOrders, ...settings], profiles: none },
  "POST ticketlayouts/lint/": { permissions: settings, profiles: none },
  "GET ticketlayouts/{id}/": { permissions: "event", profiles: none },
  "PATCH ticketlayouts/{id}/": { permissions: settings, profiles: none },
  "PUT ticketlayouts/{id}/": { permissions: settings, profiles: none },
  "DELETE ticketlayouts/{id}/": { permissions: settings, profiles: none },
  "PUT ticketlayouts/{id}/assignments/": { permissions: settings, profiles: none },
  "GET ticketlayoutitems/": { permissions: "event", profiles: none },
  "GET ticketlayoutitems/{id}/": { permissions: "event", profiles: none },
  "GET /pub/{organizer}/{event}/ticketlayouts/{file}": { permissions: "public", profiles: none },
  "GET orders/": { permissions: readOrders, profiles: ["pretixscan"] },
  "GET orders/{code}/": { permissions: readOrders, profiles: ["pretixscan"] },
  "GET orderpositions/": { permissions: readOrders, profiles: ["pretixscan"] },
  "GET orderpositions/{id}/": { permissions: readOrders, profiles: ["pretixscan"] },
  "POST orderpositions/{id}/printlog/": { permissions: scans, profiles: staff },
  "GET orderpositions/{position}/answer/{question}/": { permissions: lists, profiles: staff },
  "GET orderpositions/{position}/download/pdf/": { permissions: readOrders, profiles: none },
  "POST ticketpdfrenderer/render_batch/": { permissions: readOrders, profiles: none },
  "GET ticketpdfrenderer/download/{job}/{file}/": { permissions: readOrders, profiles: none },
  "GET offlinesalesbatches/": { permissions: readOrders, profiles: none },
  "POST offlinesalesbatches/": { permissions: writeOrders, profiles: none },
  "GET offlinesalesbatches/check/{job}/": { permissions: readOrders, profiles: none },
  "GET offlinesalesbatches/{id}/": { permissions: readOrders, profiles: none },
  "POST offlinesalesbatches/{id}/render/": { permissions: writeOrders, profiles: none },
  "GET offlinesalesbatches/{id}/download/{job}/{file}/": { permissions: readOrders, profiles: none },
  "POST offlinesalesbatches/{id}/cancel/": { permissions: writeOrders, profiles: none },
  "GET shredders/": { permissions: writeOrders, profiles: none },
  "POST shredders/export/": { permissions: writeOrders, profiles: none },
  "GET shredders/download/{export}/{file}/": { permissions: writeOrders, profiles: none },
  "POST shredders/shred/{export}/{file}/": { permissions: writeOrders, profiles: none },
  "GET shredders/status/{case}/{file}/": { permissions: writeOrders, profiles: none },
  "GET shredders/certificate/{case}/": { permissions: writeOrders, profiles: none },
  "GET shredders/{identifier}/": { permissions: writeOrders, profiles: none },
  "GET /api/v1/organizers/{organizer}/retention/": { permissions: writeOrders, profiles: none, where: everywhere },
  "PUT /api/v1/organizers/{organizer}/retention/": { permissions: writeOrders, profiles: none, where: everywhere },
  "DELETE /api/v1/organizers/{organizer}/retention/": { permissions: writeOrders, profiles: none, where: everywhere },
  "GET /api/v1/organizers/{organizer}/retention/upcoming/": {
    ...{ permissions: writeOrders, profiles: none, where: everywhere },
  },
  "GET /api/v1/organizers/{organizer}/retention/erased/": {
    ...{ permissions: writeOrders, profiles: none, where: everywhere },
  },
  "GET /api/v1/organizers/{organizer}/shredders/certificate/{case}/": { permissions: "operator", profiles: none },
  "GET /api/v1/shredders/key/": { permissions: "public", profiles: none },
  "GET /api/v1/organizers/{organizer}/apikeys/": { permissions: "operator", profiles: none },
  "POST /api/v1/organizers/{organizer}/apikeys/": { permissions: "operator", profiles: none },
  "POST /api/v1/organizers/{organizer}/apikeys/{key}/revoke/": { permissions: "operator", profiles: none },
  "GET /api/v1/organizers/{organizer}/devices/": { permissions: "operator", profiles: none },
  "POST /api/v1/organizers/{organizer}/devices/": { permissions: "operator", profiles: none },
  "POST /api/v1/organizers/{organizer}/devices/{device}/revoke/": { permissions: "operator", profiles: none },
  "POST /api/v1/organizers/{organizer}/signinlinks/": { permissions: "operator", profiles: none },
  "GET /api/v1/organizers/{organizer}/sessions/": { permissions: "operator", profiles: none },
  "DELETE /api/v1/organizers/{organizer}/sessions/{session}/": { permissions: "operator", profiles: none },
  "POST /api/v1/session/": { permissions: "public", profiles: none },
  "GET /api/v1/session/": { permissions: "person", profiles: none },
  "DELETE /api/v1/session/": { permissions: "person", profiles: none },
  "GET /api/v1/session/oidc/": { permissions: "public", profiles: none },
  "GET /api/v1/session/oidc/callback/": { permissions: "public", profiles: none },
  "POST /api/v1/device/initialize": { permissions: "public", profiles: none },
  "POST /api/v1/device/update": { permissions: "any", profiles: all },
  "GET /api/v1/device/info": { permissions: "any", profiles: all },
  "GET /api/v1/device/eventselection": { permissions: "any", profiles: all },
  "POST /api/v1/device/roll": { permissions: "any", profiles: all },
  "POST /api/v1/device/revoke": { permissions: "any", profiles: all },
  "GET /api/v1/version": { permissions: "any", profiles: all },
  "POST /api/v1/import/": { permissions: ["organizer.records:write"], profiles: none, andOperator: true },
  "POST /api/v1/upload": { permissions: "any", profiles: all },
  "GET /api/v1/idempotency_query": { permissions: "any", profiles: all },
  "GET /api/v1/openapi.json": { permissions: "public", profiles: none },
  "GET /": { permissions: "public", profiles: none },
  "GET /favicon.ico": { permissions: "public", profiles: none },
  "GET /docs": { permissions: "public", profiles: none },
  "GET /docs/start.js": { permissions: "public", profiles: none },
  "GET /docs/standalone.js": { permissions: "public", profiles: none },
  "GET /board/": { permissions: "public", profiles: none },
  "GET /board/assets/{file}": { permissions: "public", profiles: none },
  "GET /scan/": { permissions: "public", profiles: none },
  "GET /scan/assets/{file}": { permissions: "public", profiles: none },
  "GET /scan/service-worker.js": { permissions: "public", profiles: none },
};

describe("the routes", () => {
  it("[S5.5] are those of the table", () => {
    expect(routes.map(({ method, path }) => `${method} ${short(path)}`).sort()).toEqual(Object.keys(table).sort());
  });

  it("[A1.15] answer for a missing object before what is wrong with a request about it", () => {
    const unchecked = routes.filter(
      ({ path, body, query, exists }) =>
        /\{(?:id|list)\}/.test(path) &&
        (body !== undefined || (query !== undefined && "search" in query)) &&
        exists === undefined,
    );
    expect(unchecked.map(({ name }) => name)).toEqual([]);
  });

  for (const endpoint of endpoints) {
    for (const method of endpoint.routes.keys()) {
      const {
        permissions: opening,
        profiles,
        where = "",
        andOperator,
      } = table[`${method} ${short(endpoint.path)}`] ?? {
        permissions: none,
        profiles: none,
      };
      const opens = (caller: Caller) => mayUse(caller, routesLike(endpoint, method));
      const withoutPermission = ["public", "any", "event", "member"].some((open) => open === opening);

      it(`[A2.3, A2.4, A2.5, A2.6, A2.7, A2.8, A2.10, A2.11, A2.12, A2.13] ${method} ${short(endpoint.path)} opens to its permissions and profiles alone, and the document says so`, () => {
        const permitted = permissions.filter((permission) => opens(tenant({ permissions: new Set([permission]) })));
        expect([...permitted].sort()).toEqual(
          withoutPermission ? [...permissions].sort() : Array.isArray(opening) ? [...opening].sort() : [],
        );
        expect(opens(tenant({}))).toBe(withoutPermission);
        expect(opens(tenant({ permissions: new Set([everyPermission]) }))).toBe(
          withoutPermission || Array.isArray(opening),
        );
        expect(opens(operator)).toBe(opening === "public" || opening === "operator" || andOperator === true);

        const open = scanProfiles.filter((profile) =>
          opens(tenant({ kind: "device", permissions: devicePermissions, profile })),
        );
        expect([...open].sort()).toEqual(opening === "public" ? [...scanProfiles].sort() : [...profiles].sort());
        const full =
          Array.isArray(opening) && where === "" && opening.some((permission) => devicePermissions.has(permission));
        expect(opens(tenant({ kind: "device", permissions: devicePermissions }))).toBe(withoutPermission || full);

        if (!Array.isArray(opening) && opening !== "event" && opening !== "member") return;
        const toProfiles = profiles.length === 0 ? "" : ` Open to device profiles ${profiles.join(", ")}.`;
        const rights =
          opening === "event"
            ? "access to the event"
            : opening === "member"
              ? "a key or device of the organizer"
              : opening.map((permission) => `\`${permission}\``).join(" or ");
        const needs = andOperator
          ? `Needs the operator's key, or for records of its organizer an API key with ${rights}.`
          : `Needs ${rights}${where}.${toProfiles}`;
        const { description = "" } = document.paths[endpoint.path.replace("+}", "}")]?.[method.toLowerCase()] ?? {};
        expect(description.split("\n\n").at(-1)).toBe(needs);
      });
    }
  }
});

describe("a person", () => {
  const everything = (kind: Tenant["kind"]) => tenant({ kind, permissions: new Set(permissions) });

  it("[P3.2] may use the routes of an API key with the same permissions, without those of organizers and records, and the own session", () => {
    const opened = (caller: Caller) =>
      new Set(routes.filter((route) => mayUse(caller, [route])).map(({ name }) => name));
    const closed = routes.filter(({ access }) => ["organizer", "records", "operator"].includes(access.kind));
    expect(closed.length).toBeGreaterThan(10);
    const ofKey = opened(everything("api_key"));
    const own = routes.filter(({ access }) => access.kind === "person").map(({ name }) => name);
    expect(own).toEqual(["getSession", "endSession"]);
    for (const { name } of closed) ofKey.delete(name);
    expect([...opened(everything("person"))].sort()).toEqual([...ofKey, ...own].sort());
    const powerless = tenant({ kind: "person" });
    expect(opened(powerless).has("listCheckinLists")).toBe(false);
  });
});

describe("a method that an endpoint does not have", () => {
  const at = (path: string) =>
    endpoints.find((endpoint) => endpoint.path === inEvent + path) as (typeof endpoints)[number];
  const reader = tenant({ permissions: new Set(["event.orders:read"]) });
  const changer = tenant({ permissions: new Set(["event.settings.general:write"]) });

  it("[A2.15] asks for the right to the others of its class", () => {
    expect(mayUse(reader, routesLike(at("checkinlists/"), "DELETE"))).toBe(false);
    expect(mayUse(changer, routesLike(at("checkinlists/"), "DELETE"))).toBe(true);
    expect(mayUse(reader, routesLike(at("checkinlists/"), "OPTIONS"))).toBe(true);
    expect(mayUse(changer, routesLike(at("checkinlists/"), "OPTIONS"))).toBe(false);
    expect(mayUse(reader, routesLike(at("checkinlists/"), "HEAD"))).toBe(true);
  });

  it("[A2.16] asks for any right where there are no others", () => {
    expect(mayUse(reader, routesLike(at("checkinlists/{id}/status/"), "DELETE"))).toBe(true);
    expect(mayUse(changer, routesLike(at("checkinlists/{id}/status/"), "DELETE"))).toBe(false);
    expect(mayUse(changer, routesLike(at("checkinlist/{id}/"), "GET"))).toBe(true);
  });
});
