import { hash, randomUUID } from "node:crypto";
import type { Consumer, OpenConsumer } from "@tessera/kit/bus/consume";
import { nothingErased } from "@tessera/kit/bus/dead-letter";
import { header } from "@tessera/kit/bus/headers";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { type CredentialChanged, CredentialKind, EventChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import type { Topic } from "@tessera/protos/topic";
import { topics } from "@tessera/protos/topics";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { credentialChanged } from "../consumers/credential-changed.ts";
import { eventChanged } from "../consumers/event-changed.ts";
import { findByHash, isAsNewAs } from "../store/credentials.ts";
import { hasEvent } from "../store/events.ts";
import { findSession } from "../store/session-rows.ts";
import { gatewayDatabase } from "../testing/database.ts";
import { type Forgetful, type Listener, listenForChanges } from "./change-notice.ts";
import { type Directory, openDirectory } from "./directory.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });
const hashOf = (token: string) => hash("sha256", token, "buffer");

const { database, db } = await gatewayDatabase();
afterAll(() => database.drop());

const open = (consumer: Consumer<Forgetful>) =>
  consumer.open({ db, group: "gateway", log, isErased: nothingErased, deps: { directory: { forget() {} } } });

/** Delivers facts as the bus would; null is a tombstone. */
async function deliver<F>(consumer: OpenConsumer, topic: Topic<F>, facts: readonly (F | string)[]): Promise<void> {
  const messages = facts.map((fact) => ({
    topic: topic.name,
    partition: 0,
    key: typeof fact === "string" ? fact : topic.key(fact),
    value: typeof fact === "string" ? null : topic.encode(fact),
    headers: { [header.factId]: randomUUID(), [header.at]: String(Date.now() * 1000) },
  }));
  await consumer.deliver(messages, new AbortController().signal);
}

const tellCredentials = (...facts: (CredentialChanged | string)[]) =>
  deliver(open(credentialChanged), topics.credentialChanged, facts);
const tellEvents = (...facts: (EventChanged | string)[]) => deliver(open(eventChanged), topics.eventChanged, facts);

const apiKey = (token: string, more: Partial<CredentialChanged> = {}): CredentialChanged => ({
  organizer: "bigevents",
  kind: CredentialKind.API_KEY,
  id: hashOf(token).toString("hex"),
  revision: 1,
  tokenHash: hashOf(token),
  name: "A key",
  permissions: ["event.orders:read"],
  allEvents: false,
  events: ["sampleconf", "other"],
  active: true,
  device: undefined,
  ...more,
});

const device = (token: string | undefined, more: Partial<CredentialChanged> = {}): CredentialChanged => ({
  ...apiKey(token ?? ""),
  kind: CredentialKind.DEVICE,
  id: "3",
  tokenHash: token === undefined ? undefined : hashOf(token),
  permissions: [],
  device: { deviceId: 3, gate: { id: 7, name: "West" }, securityProfile: "pretixscan", softwareBrand: "pretixSCAN" },
  ...more,
});

const emptyEvent = EventChanged.decode(new Uint8Array());
const anEvent = (event: string, revision = 1): EventChanged => ({
  ...emptyEvent,
  organizer: "bigevents",
  event,
  revision,
});

describe("credentials", () => {
  beforeEach(async () => void (await db.run(sql`delete from credential`)));

  it("[A1.8, S2.1] are found by the hash of their token, under their own kind", async () => {
    await tellCredentials(apiKey("a"), device("d"));
    expect(await findByHash(db, "api_key", hashOf("a"))).toEqual({
      organizer: "bigevents",
      kind: "api_key",
      id: hashOf("a").toString("hex"),
      name: "A key",
      tokenHash: hashOf("a"),
      permissions: ["event.orders:read"],
      allEvents: false,
      events: ["sampleconf", "other"],
      active: true,
      device: null,
    });
    expect(await findByHash(db, "device", hashOf("d"))).toMatchObject({
      id: "3",
      permissions: [],
      device: { deviceId: 3, gate: 7, securityProfile: "pretixscan", softwareBrand: "pretixSCAN" },
    });
    expect(await findByHash(db, "device", hashOf("a"))).toBeUndefined();
    expect(await findByHash(db, "api_key", hashOf("b"))).toBeUndefined();
  });

  it("keep the newest state, whatever the order it comes in", async () => {
    await tellCredentials(apiKey("a", { revision: 5, active: false }));
    await tellCredentials(apiKey("a", { revision: 4, active: true }));
    expect(await findByHash(db, "api_key", hashOf("a"))).toMatchObject({ active: false });
    await tellCredentials(
      apiKey("a", { revision: 6, active: true }),
      apiKey("a", { revision: 7, active: true, permissions: [], events: [] }),
    );
    expect(await findByHash(db, "api_key", hashOf("a"))).toMatchObject({ active: true, permissions: [], events: [] });
  });

  it("are known to be as new as their last fact, and no newer", async () => {
    const key = { organizer: "bigevents", kind: "api_key", id: hashOf("aged").toString("hex") } as const;
    expect(await isAsNewAs(db, { ...key, revision: 1 })).toBe(false);
    await tellCredentials(apiKey("aged", { revision: 5 }));
    const asNewAs = await Promise.all([4, 5, 6].map((revision) => isAsNewAs(db, { ...key, revision })));
    expect(asNewAs).toEqual([true, true, false]);
    expect(await isAsNewAs(db, { ...key, organizer: "other", revision: 1 })).toBe(false);
    expect(await isAsNewAs(db, { ...key, kind: "device", revision: 1 })).toBe(false);
  });

  it("are deleted by their tombstone, even if the fact that replaces them comes with it", async () => {
    await tellCredentials(apiKey("a"));
    await tellCredentials(topics.credentialChanged.key(apiKey("a")));
    expect(await findByHash(db, "api_key", hashOf("a"))).toBeUndefined();
    await tellCredentials(device("d"));
    await tellCredentials(device("d", { id: "4" }), topics.credentialChanged.key(device("d")));
    expect(await findByHash(db, "device", hashOf("d"))).toMatchObject({ id: "4" });
  });

  it("may pass a token on within one delivery", async () => {
    await tellCredentials(device("d", { id: "3" }), device(undefined, { id: "4" }));
    await tellCredentials(device(undefined, { id: "3", revision: 2 }), device("d", { id: "4", revision: 2 }));
    expect(await findByHash(db, "device", hashOf("d"))).toMatchObject({ id: "4" });
  });

  it("of kinds that a newer version knows are left alone", async () => {
    await tellCredentials(apiKey("a", { kind: CredentialKind.UNSPECIFIED }), apiKey("b"));
    expect(await findByHash(db, "api_key", hashOf("a"))).toBeUndefined();
    expect(await findByHash(db, "api_key", hashOf("b"))).toBeDefined();
  });

  it("hold any text that a name can be", async () => {
    await tellCredentials(apiKey("a", { name: `Ærø "'\\ 🎟 ${"x".repeat(500)}`, events: ["a,b", "{}", '"'] }));
    expect(await findByHash(db, "api_key", hashOf("a"))).toMatchObject({ events: ["a,b", "{}", '"'] });
  });
});

describe("events", () => {
  it("come and go", async () => {
    await tellEvents(anEvent("one"), anEvent("two"), anEvent("one", 2));
    expect(await hasEvent(db, "bigevents", "one")).toBe(true);
    expect(await hasEvent(db, "somebody", "one")).toBe(false);
    await tellEvents(topics.eventChanged.key(anEvent("one")));
    expect(await hasEvent(db, "bigevents", "one")).toBe(false);
    expect(await hasEvent(db, "bigevents", "two")).toBe(true);
  });
});

/** Ends the listening connections, as an administrator or a failover would. */
async function cutListeners(): Promise<void> {
  const administrator = await db.dedicated();
  await administrator.run(sql`set role none`);
  const { count } = await administrator.one<{ count: number }>(sql`
    select count(pg_terminate_backend(pid)) as count
      from pg_stat_activity
     where datname = current_database()
       and query like 'listen %'`);
  await administrator.release();
  expect(count).toBe(1);
}

describe("another process", () => {
  let directory: Directory;
  let listener: Listener;
  let heard = 0;
  beforeEach(async () => {
    await db.run(sql`delete from credential`);
    heard = 0;
    const store = {
      findByHash: (kind: "api_key" | "device", tokenHash: Buffer) => findByHash(db, kind, tokenHash),
      findSession: (tokenHash: Buffer) => findSession(db, tokenHash),
      hasEvent: (organizer: string, event: string) => hasEvent(db, organizer, event),
    };
    directory = openDirectory(store, { operatorKey: undefined });
    listener = listenForChanges({ db, log }, () => {
      heard += 1;
      directory.forget();
    });
    await expect.poll(() => heard).toBe(1);
  });
  afterEach(() => listener.stop());

  const authenticate = async () => directory.authenticate({ kind: "api_key", token: Buffer.from("a") });

  it("[S2.2] hears of a revoked key at once, though it remembers it", async () => {
    await tellCredentials(apiKey("a"));
    await expect.poll(() => heard).toBe(2);
    expect(await authenticate()).toMatchObject({ organizer: "bigevents" });
    await tellCredentials(apiKey("a", { revision: 2, active: false }));
    await expect
      .poll(() => authenticate().catch((error: Error) => error.message))
      .toBe("This API key has been switched off.");
  });

  it("hears nothing of what is rolled back", async () => {
    await expect(
      db.transaction(async (tx) => {
        await tx.run(sql`select pg_notify('tessera_gateway_access', '')`);
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    await tellEvents(anEvent("three"));
    await expect.poll(() => heard).toBe(2);
  });

  it("[S2.3] forgets everything when it may have missed something", async () => {
    await tellCredentials(apiKey("a"));
    await expect.poll(() => heard).toBe(2);
    await authenticate();
    await cutListeners();
    await db.run(sql`update credential set active = false`);
    await expect.poll(() => heard).toBe(3);
    await expect(authenticate()).rejects.toThrow("switched off");
    await tellEvents(anEvent("four"));
    await expect.poll(() => heard).toBe(4);
  });
});
