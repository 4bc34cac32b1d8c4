import { hash } from "node:crypto";
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskFiles } from "@tessera/engines/files/disk";
import type { Files } from "@tessera/kit/files/files";
import { createLog } from "@tessera/kit/telemetry/log";
import { createMetrics, type Metrics } from "@tessera/kit/telemetry/metrics";
import { type Tracing, untraced } from "@tessera/kit/telemetry/trace";
import { afterEach, beforeEach } from "vitest";
import { type AccessStore, type Directory, openDirectory } from "../access/directory.ts";
import { grantable } from "../access/read-grants.ts";
import { DeviceContacts } from "../access/remember-contacts.ts";
import type { Sessions } from "../access/sessions.ts";
import { type AppOptions, buildApp } from "../app.ts";
import type { Route } from "../http/route.ts";
import { type HttpServerOptions, httpServer } from "../http/server.ts";
import { recordOwners } from "../import/owners.ts";
import type { FindAnswer } from "../routes/idempotency/routes.ts";
import { allRoutes } from "../routes/index.ts";
import type { RouteDependencies } from "../routes/make-routes.ts";
import type { RefusedStatus } from "../routes/redeem/present.ts";
import type { RedeemOptions } from "../routes/redeem/routes.ts";
import type { Credential } from "../store/credentials.ts";
import type { Session } from "../store/session-rows.ts";
import type { UploadTargets } from "../upload/take-upload.ts";
import { type FakePeers, fakePeers } from "./fake-peers.ts";
import { requireDocumented, type Seen } from "./require-documented.ts";

export interface Sent {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; undefined: it is something else. */
  readonly json: unknown;
}

export interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: unknown;
  /** The API key; null: no credentials. */
  readonly key?: string | null;
}

export interface ServedApp {
  readonly peers: FakePeers;
  readonly contacts: DeviceContacts;
  readonly routes: readonly Route[];
  readonly seen: Seen[];
  /** Log lines, parsed. */
  readonly logged: Record<string, unknown>[];
  readonly metrics: Metrics;
  readonly port: number;
  /** Sends a request whose path is not normalized. */
  send(method: string, path: string, options?: SendOptions): Promise<Sent>;
  close(): Promise<void>;
}

/** The base of links in answers; the server itself listens elsewhere. */
export const publicBase = "https://tickets.example.com/shop";

export const inEvent = "/api/v1/organizers/bigevents/events/sampleconf";

/** An event of another organizer. */
export const inTheirEvent = "/api/v1/organizers/somebody/events/theirs";

/** Tokens that every test may use. */
export const keys = {
  all: "key-with-every-permission",
  reader: "key-that-reads-orders",
  gate: "key-that-may-only-check-in",
  settings: "key-that-may-change-settings",
  voucherReader: "key-that-reads-vouchers",
  voucherWriter: "key-that-may-change-vouchers",
  none: "key-without-permissions",
  otherEvent: "key-of-another-event",
  otherOrganizer: "key-of-another-organizer",
  inactive: "key-that-was-switched-off",
  operator: "operator-key",
} as const;

/** The token of every credential that is created. */
export const freshToken = "fresh".repeat(13).slice(0, 64);

/** When this application hears of devices, in microseconds. */
export const heardAt = 1_800_000_000_000_000;

/** Tokens of devices. */
export const devices = {
  full: "device-full",
  scan: "device-scan",
  kiosk: "device-kiosk",
  revoked: "device-revoked",
} as const;

/** Tokens of sessions of people. */
export const people = {
  all: "person-with-every-permission",
  reader: "person-who-reads-orders",
  otherEvent: "person-of-another-event",
  revoked: "person-whose-session-was-revoked",
  ended: "person-whose-session-is-over",
} as const;

const sessions: ReadonlyMap<string, Session> = new Map([
  person(people.all, { permissions: grantable }),
  person(people.reader, { permissions: ["event.orders:read"] }),
  person(people.otherEvent, { permissions: grantable, allEvents: false, events: ["other"] }),
  person(people.revoked, { state: "revoked" }),
  person(people.ended, { state: "ended" }),
]);

function person(token: string, overrides: Partial<Session>): readonly [hash: string, session: Session] {
  const usual = { organizer: "bigevents", name: "Ada", permissions: [], allEvents: true, events: [] };
  const session = { ...usual, id: "5f0c8a52-6b0e-4c7e-9d55-0e6f5f3a9c11", state: "in use" } as const;
  const times = { createdAt: heardAt, beganAt: heardAt, endsAt: heardAt + 3_600_000_000, endsInMs: 3_600_000 };
  return [hash("sha256", token, "hex"), { ...session, ...times, ...overrides }];
}

/** The headers of a request that a page of this deployment sends for a person. */
export const withCookie = (token: string) => ({
  cookie: `tessera_session=${token}`,
  "sec-fetch-site": "same-origin",
});

export const noSessions: Sessions = {
  createLink: () => Promise.reject(new Error("this application stores no sessions")),
  redeem: async () => ({ kind: "unknown" }),
  begin: () => Promise.reject(new Error("this application stores no sessions")),
  leave: async () => {},
  revoke: async () => false,
  page: async () => ({ results: [], count: 0, page: 1 }),
};

const credentials: readonly Credential[] = [
  apiKey(keys.all, { permissions: ["*"] }),
  apiKey(keys.reader, { permissions: ["event.orders:read"] }),
  apiKey(keys.gate, { permissions: ["event.orders:checkin"] }),
  apiKey(keys.settings, { permissions: ["event.settings.general:write"] }),
  apiKey(keys.voucherReader, { permissions: ["event.vouchers:read"] }),
  apiKey(keys.voucherWriter, { permissions: ["event.vouchers:write"] }),
  apiKey(keys.none, {}),
  apiKey(keys.otherEvent, { permissions: ["*"], allEvents: false, events: ["other"] }),
  apiKey(keys.otherOrganizer, { permissions: ["*"], organizer: "somebody" }),
  apiKey(keys.inactive, { permissions: ["*"], active: false }),
  device(devices.full, { profile: "full" }),
  device(devices.scan, { profile: "of-the-future", brand: "pretixSCAN Android" }),
  device(devices.kiosk, { profile: "pretixscan_online_kiosk" }),
  device(devices.revoked, { profile: "full", active: false }),
];

function apiKey(token: string, overrides: Partial<Credential>): Credential {
  const tokenHash = hash("sha256", token, "buffer");
  return {
    organizer: "bigevents",
    kind: "api_key",
    id: tokenHash.toString("hex"),
    name: `The ${token}`,
    tokenHash,
    permissions: [],
    allEvents: true,
    events: [],
    active: true,
    device: null,
    ...overrides,
  };
}

function device(
  token: string,
  { profile, brand = "other", active = true }: { profile: string; brand?: string; active?: boolean },
): Credential {
  return apiKey(token, {
    kind: "device",
    id: "3",
    active,
    device: { deviceId: 3, gate: 2, securityProfile: profile, softwareBrand: brand },
  });
}

function directoryWith(
  findSession: AccessStore["findSession"] = async (tokenHash) => sessions.get(tokenHash.toString("hex")),
): Directory {
  return openDirectory(
    {
      findByHash: async (kind, tokenHash) =>
        credentials.find((known) => known.kind === kind && known.tokenHash.equals(tokenHash)),
      findSession,
      hasEvent: async (organizer, event) => knownEvents.has(`${organizer}/${event}`),
    },
    { operatorKey: keys.operator },
  );
}

/** Of all applications with the usual credentials: to make its caches takes longer than most tests. */
const usualDirectory = directoryWith();

export interface ServeOptions {
  /** By default off. */
  tracing?: Tracing;
  refusedStatus?: RefusedStatus;
  hasOfflineSales?: boolean;
  findUploads?: RedeemOptions["findUploads"];
  expireDropped?: RedeemOptions["expireDropped"];
  /** Whether our copy of credentials keeps up with boxoffice. */
  copied?: boolean;
  /** The size limit of every body. */
  maxBytes?: number;
  server?: Partial<HttpServerOptions>;
  bodies?: Partial<AppOptions["bodies"]>;
  maxMs?: number;
  rate?: AppOptions["rate"];
  uploads?: Partial<UploadTargets>;
  files?: Files;
  answers?: AppOptions["answers"];
  findAnswer?: FindAnswer;
  makeToken?: () => string;
  identityProvider?: RouteDependencies["identityProvider"];
  findSession?: AccessStore["findSession"];
  sessions?: (directory: Directory) => Sessions;
  findContacts?: RouteDependencies["findContacts"];
  findHeard?: RouteDependencies["findHeard"];
  findDeviceNames?: RouteDependencies["findDeviceNames"];
  routes?: (routes: readonly Route[]) => readonly Route[];
}

/** Serves the whole application on a free port, with fake peers behind it. */
export async function serveApp(options: ServeOptions = {}): Promise<ServedApp> {
  const peers = fakePeers();
  const { clients } = peers;
  const logged: Record<string, unknown>[] = [];
  const log = createLog({
    service: "gateway",
    destination: { write: (line) => void logged.push(JSON.parse(line) as Record<string, unknown>) },
  });
  const metrics = createMetrics();
  const server = httpServer({ host: "127.0.0.1", port: 0, log, metrics, ...options.server });
  const { findSession } = options;
  const directory =
    findSession === undefined && options.sessions === undefined ? usualDirectory : directoryWith(findSession);
  const contacts = new DeviceContacts(() => heardAt);
  const all = allRoutes({
    clients,
    contacts,
    findContacts: options.findContacts ?? (async () => []),
    findHeard: options.findHeard ?? (async () => []),
    findDeviceNames: options.findDeviceNames ?? (async () => new Map()),
    hasOfflineSales: options.hasOfflineSales ?? true,
    importTargets: {
      isOperatorKey: directory.isOperatorKey,
      owners: recordOwners(clients),
      readers: new Map([["checkin", clients.checkinFacts.caughtUp]]),
      quotas: clients.quotas,
      tickets: clients.tickets,
    },
    uploadTargets: {
      // Never created, unless a test uploads something.
      files: diskFiles({ directory: join(tmpdir(), "tessera-uploads-of-tests") }),
      record: async ({ id }) => id,
      now: () => 0,
      maxBytes: 10 * 1024 * 1024,
      countOutstanding: async () => ({ organizer: nothingSent, credential: nothingSent }),
      mostOutstanding: { files: 10, size: 1024 * 1024 },
      ...options.uploads,
    },
    files: options.files ?? diskFiles({ directory: join(tmpdir(), "tessera-files-of-tests") }),
    credentials: {
      makeToken: options.makeToken ?? (() => freshToken),
      untilCopied: async () => options.copied ?? true,
    },
    findAnswer: options.findAnswer ?? (async () => undefined),
    sessions: options.sessions?.(directory) ?? noSessions,
    identityProvider: options.identityProvider,
    findEvents: async (organizer, names) => new Set(names.filter((event) => knownEvents.has(`${organizer}/${event}`))),
    stopping: server.stopping,
    refusedStatus: options.refusedStatus ?? "ok",
    findUploads: options.findUploads ?? (async () => []),
    expireDropped: options.expireDropped ?? (async () => {}),
    baseUrl: () => publicBase,
    version: "1.2.3",
    demoKeys: { apiKey: undefined, deviceKey: undefined },
  });
  const { maxBytes } = options;
  const limited = maxBytes === undefined ? all : all.map((route) => limitBody(route, maxBytes));
  const routes = options.routes?.(limited) ?? limited;
  const app = buildApp({
    routes,
    directory,
    contacts,
    bodies: { maxMs: options.maxMs ?? 5000, ...options.bodies },
    ...(options.rate === undefined ? {} : { rate: options.rate }),
    ...(options.answers === undefined ? {} : { answers: options.answers }),
    baseUrl: () => publicBase,
    isLeaving: () => server.isLeaving(),
    log,
    metrics,
    tracing: options.tracing ?? untraced,
  });
  const seen: Seen[] = [];
  app.koa.middleware.unshift(async (ctx, next) => {
    await next();
    seen.push({ endpoint: ctx.state.endpoint, method: ctx.method, status: ctx.status, body: ctx.body });
  });
  server.answerWith(app.listener());
  await server.start();
  return {
    peers,
    contacts,
    routes,
    seen,
    logged,
    metrics,
    port: server.port(),
    send: (method, path, sendOptions) => send(server.port(), method, path, sendOptions),
    close: () => server.stop(),
  };
}

/** Serves the application for each test of a file; the document must describe its answers. */
export function appOfEachTest(options: ServeOptions = {}): ServedApp {
  let app: ServedApp;
  beforeEach(async () => {
    app = await serveApp(options);
  });
  afterEach(async () => {
    requireDocumented(app);
    await app.close();
  });
  return {
    get peers() {
      return app.peers;
    },
    get contacts() {
      return app.contacts;
    },
    get routes() {
      return app.routes;
    },
    get seen() {
      return app.seen;
    },
    get logged() {
      return app.logged;
    },
    get metrics() {
      return app.metrics;
    },
    get port() {
      return app.port;
    },
    send: (...request) => app.send(...request),
    close: () => app.close(),
  };
}

const knownEvents: ReadonlySet<string> = new Set(["bigevents/sampleconf", "bigevents/other", "somebody/theirs"]);

const nothingSent = { files: 0, size: 0 };

function limitBody(route: Route, maxBytes: number): Route {
  return route.body === undefined ? route : { ...route, body: { ...route.body, maxBytes } };
}

function send(
  port: number,
  method: string,
  path: string,
  { headers = {}, body, key = keys.all }: SendOptions = {},
): Promise<Sent> {
  const content = body === undefined || typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        port,
        host: "127.0.0.1",
        method,
        path,
        agent: false,
        headers: {
          ...(key === null
            ? {}
            : { authorization: Object.values<string>(devices).includes(key) ? `Device ${key}` : `Token ${key}` }),
          ...(body !== undefined && content !== body ? { "content-type": "application/json" } : {}),
          ...(content === undefined || "transfer-encoding" in headers
            ? {}
            : { "content-length": String(Buffer.byteLength(content)) }),
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: toJson(text) });
        });
      },
    );
    request.on("error", reject);
    request.end(content);
  });
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
