import { hash, randomUUID } from "node:crypto";
import type { Consumer, OpenConsumer } from "@tessera/kit/bus/consume";
import { nothingErased } from "@tessera/kit/bus/dead-letter";
import { header } from "@tessera/kit/bus/headers";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { type CredentialChanged, CredentialKind, EventChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import type { Topic } from "@tessera/protos/topic";
import { topics } from "@tessera/protos/topics";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import type { Forgetful } from "../access/change-notice.ts";
import { findByHash } from "../store/credentials.ts";
import { gatewayDatabase } from "../testing/database.ts";
import { credentialChanged } from "./credential-changed.ts";
import { eventChanged } from "./event-changed.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });
const hashOf = (token: string) => hash("sha256", token, "buffer");

const { database, db } = await gatewayDatabase();
afterAll(() => database.drop());
beforeEach(async () => {
  await db.run(sql`delete from credential`);
  await db.run(sql`delete from event`);
});

const open = (consumer: Consumer<Forgetful>) =>
  consumer.open({ db, group: "gateway", log, isErased: nothingErased, deps: { directory: { forget() {} } } });

async function deliver<F>(consumer: OpenConsumer, topic: Topic<F>, facts: readonly F[]): Promise<void> {
  const messages = facts.map((fact) => ({
    topic: topic.name,
    partition: 0,
    key: topic.key(fact),
    value: topic.encode(fact),
    headers: { [header.factId]: randomUUID(), [header.at]: "0" },
  }));
  await consumer.deliver(messages, new AbortController().signal);
}

/** Delivers the end of a rebuild that began at a revision. */
async function sweep(consumer: OpenConsumer, before: number): Promise<void> {
  const headers = {
    [header.marker]: randomUUID(),
    [header.sweepBelow]: String(before),
    [header.sweepPartitions]: "1",
    [header.sweepSince]: "0",
  };
  const message = { topic: consumer.topic, partition: 0, key: "rebuild", value: new Uint8Array(), headers };
  await consumer.deliver([message], new AbortController().signal);
  expect(await db.many(sql`select cause from dead_letter`)).toEqual([]);
}

const device = (id: string, token: string | undefined, revision: number): CredentialChanged => ({
  organizer: "bigevents",
  kind: CredentialKind.DEVICE,
  id,
  revision,
  tokenHash: token === undefined ? undefined : hashOf(token),
  name: `Device ${id}`,
  permissions: [],
  allEvents: true,
  events: [],
  active: true,
  device: undefined,
});

const tell = (...facts: CredentialChanged[]) => deliver(open(credentialChanged), topics.credentialChanged, facts);
const holder = async (token: string) => (await findByHash(db, "device", hashOf(token)))?.id;

describe("a sweep", () => {
  it("removes lost credentials and events", async () => {
    await tell(device("1", "a", 99), device("2", "b", 100));
    await sweep(open(credentialChanged), 100);
    expect([await holder("a"), await holder("b")]).toEqual([undefined, "2"]);
    const event = (slug: string, revision: number): EventChanged => ({
      ...EventChanged.decode(new Uint8Array()),
      organizer: "bigevents",
      event: slug,
      revision,
    });
    await deliver(open(eventChanged), topics.eventChanged, [event("lost", 7), event("kept", 8)]);
    await sweep(open(eventChanged), 8);
    expect(await db.many(sql`select event from event`)).toEqual([{ event: "kept" }]);
    // A sweep proves no deletion: kept answers may be repeated when the event is back.
    expect(await db.many(sql`select event from deleted_event`)).toEqual([]);
  });
});

describe("a token", () => {
  it("belongs to the credential that had it last, even if the fact about its loss never came", async () => {
    await tell(device("1", "a", 1));
    await tell(device("2", "a", 2));
    expect(await db.many(sql`select cause from dead_letter`)).toEqual([]);
    expect(await holder("a")).toBe("2");
    await sweep(open(credentialChanged), 2);
    expect(await holder("a")).toBe("2");
  });

  it("is not taken back by a state that is older than its holder's", async () => {
    await tell(device("2", "a", 5));
    await tell(device("1", "a", 4));
    expect(await holder("a")).toBe("2");
    expect(await db.many(sql`select id, token_hash is null as without from credential order by id`)).toEqual([
      { id: "1", without: true },
      { id: "2", without: false },
    ]);
  });

  it("may be swapped for another's, in one delivery and in two", async () => {
    await tell(device("1", "a", 1), device("2", "b", 2));
    await tell(device("1", "b", 3), device("2", "a", 4));
    expect([await holder("a"), await holder("b")]).toEqual(["2", "1"]);
    await tell(device("1", "a", 5));
    await tell(device("2", "b", 6));
    expect([await holder("a"), await holder("b")]).toEqual(["1", "2"]);
    await tell(device("3", "c", 7), device("4", "c", 8));
    expect(await holder("c")).toBe("4");
  });

  it("stays with a credential that has another fact", async () => {
    await tell(device("1", "a", 1));
    await tell(device("1", "a", 2));
    await tell(device("1", "a", 1));
    expect(await holder("a")).toBe("1");
  });
});
