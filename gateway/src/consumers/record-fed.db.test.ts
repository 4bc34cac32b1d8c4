import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isErasedByKey, keysOf } from "@tessera/events/personal-data/erased-kinds";
import { noteCase, takeOn } from "@tessera/events/personal-data/erasures";
import { deleteDeadLettersOf } from "@tessera/kit/bus/dead-letter";
import { header } from "@tessera/kit/bus/headers";
import { requestReplays } from "@tessera/kit/bus/operators";
import { replayDeadLetters } from "@tessera/kit/bus/replay-dead-letters";
import { systemClock } from "@tessera/kit/clock";
import { Fault } from "@tessera/kit/fault";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { EventChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import type { ApplyRecordsRequest, ApplyRecordsResponse } from "@tessera/protos/gen/ticketing/records/v1/records";
import { recordFeed, topics } from "@tessera/protos/topics";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import type { ImportTargets } from "../import/import-stream.ts";
import { batchTurns } from "../import/owners.ts";
import { addWarnings, findWarnings } from "../store/record-warnings.ts";
import { gatewayDatabase } from "../testing/database.ts";
import { eventChanged } from "./event-changed.ts";
import { takeRecords } from "./record-fed.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });

const { database, db } = await gatewayDatabase();
afterAll(() => database.drop());
beforeEach(async () => {
  await db.run(sql`delete from inbox`);
  await db.run(sql`delete from dead_letter`);
  await db.run(sql`delete from erasure`);
  await db.run(sql`delete from event`);
});

type Apply = (
  request: ApplyRecordsRequest,
  options: { signal?: AbortSignal | undefined },
) => Promise<ApplyRecordsResponse>;

/** Owners that accept what `apply` does not refuse, and record the accepted ids in order. */
function ownersWith(apply: Apply, { caughtUp = true } = {}): { targets: ImportTargets; taken: number[] } {
  const taken: number[] = [];
  const owner = {
    records: {
      validateRecords: () => Promise.reject(new Error("the feed is not validated")),
      async applyRecords(request: ApplyRecordsRequest, options: { signal?: AbortSignal | undefined } = {}) {
        const response = await apply(request, options);
        taken.push(...request.records.map(idOf));
        return response;
      },
    },
    facts: { markFacts: async () => ({ marker: "m", partitions: [] }) },
    turns: batchTurns(),
  };
  const targets: ImportTargets = {
    isOperatorKey: () => false,
    owners: {
      boxoffice: { ...owner, after: [] },
      checkin: { ...owner, after: ["boxoffice"] },
      voucher: { ...owner, after: ["boxoffice"] },
      "layout-and-render": { ...owner, after: ["boxoffice"] },
    },
    readers: new Map(["boxoffice", "checkin", "voucher"].map((service) => [service, async () => ({ caughtUp })])),
    quotas: { findOverbooked: () => Promise.reject(new Error("the answer is not read")) },
    tickets: { findAmbiguousSecrets: () => Promise.reject(new Error("the answer is not read")) },
  };
  return { targets, taken };
}

function idOf({ data }: { data: Uint8Array }): number {
  return (JSON.parse(Buffer.from(data).toString()) as { id: number }).id;
}

const item = (id: number) => ({ kind: "item", organizer: "o", event: "e", data: { id } });
const list = (id: number) => ({ kind: "checkin_list", organizer: "o", event: "e", data: { id } });

const never = new AbortController().signal;

const open = (
  targets: ImportTargets,
  { maxMs, stopping = never }: { maxMs?: number | undefined; stopping?: AbortSignal | undefined } = {},
) =>
  takeRecords({ ...(maxMs === undefined ? {} : { maxMs }), pausesMs: [1, 5] }).open({
    db,
    group: "gateway",
    log,
    isErased: isErasedByKey,
    deps: { importTargets: targets, stopping },
  });

async function feed(
  records: readonly object[],
  {
    targets,
    maxMs,
    stopping,
    signal,
    key = "o/e",
  }: {
    targets: ImportTargets;
    maxMs?: number;
    stopping?: AbortSignal;
    signal?: AbortSignal;
    key?: string;
  },
): Promise<void> {
  const messages = records.map((record, index) => ({
    topic: recordFeed.name,
    partition: 0,
    key,
    value: Buffer.from(JSON.stringify(record)),
    headers: {},
    place: { offset: String(index), storedAt: Date.now() * 1000 },
  }));
  await open(targets, { maxMs, stopping }).deliver(messages, signal ?? never);
}

async function tellOfEvents(
  facts: readonly { readonly key: string; readonly value: EventChanged | null; readonly at?: number }[],
): Promise<void> {
  const deps = { directory: { forget() {} } };
  const messages = facts.map(({ key, value, at = systemClock.now() }) => ({
    topic: topics.eventChanged.name,
    partition: 0,
    key,
    value: value === null ? null : topics.eventChanged.encode(value),
    headers: { [header.factId]: randomUUID(), [header.at]: String(at) },
  }));
  await eventChanged.open({ db, group: "gateway", log, isErased: isErasedByKey, deps }).deliver(messages, never);
}

const deadLetters = () => db.many<{ key: string; cause: string }>(sql`select key, cause from dead_letter order by id`);

describe("the feed", () => {
  it("[R1.23] makes dead letters of records that their owner fails on, however many come together, and takes the others", async () => {
    const { targets, taken } = ownersWith(async ({ records }) => {
      if (records.some((record) => idOf(record) < 22)) throw new Error("a bug of the owner");
      return { rejected: [] };
    });
    await feed([...Array.from({ length: 22 }, (_, id) => item(id)), item(100), item(101)], { targets });
    expect(await deadLetters()).toHaveLength(22);
    expect([...new Set(taken)]).toEqual([100, 101]);
  });

  it("[R2.17] parks nothing that its owner has taken with warnings, and counts these", async () => {
    const { targets, taken } = ownersWith(async ({ records }) => ({
      rejected: [],
      warned: {
        records: records.map(({ line }) => ({ line, errors: [{ field: "variations.0.price", messages: ["?"] }] })),
      },
    }));
    await feed([item(1), item(2)], { targets: { ...targets, noteWarnings: (met) => addWarnings(db, met) } });
    expect(taken).toEqual([1, 2]);
    const met = { kind: "item", field: "variations.price", count: 2 };
    expect(await findWarnings(db, { days: 7, most: 5 })).toEqual([met]);
    expect(await deadLetters()).toEqual([]);
  });

  it("[R1.24] waits for an unavailable owner, and makes no dead letters", async () => {
    let asked = 0;
    const { targets, taken } = ownersWith(async () => {
      asked += 1;
      if (asked < 4) throw new Fault("unavailable", "peer_away", "it is away");
      return { rejected: [] };
    });
    await feed([item(1), item(2)], { targets, maxMs: 250 });
    expect(taken).toEqual([1, 2]);
    expect(await deadLetters()).toEqual([]);
  });

  it("[R1.29] parks a record on which its owner runs into a time limit, and takes the others", async () => {
    let tries = 0;
    const { targets, taken } = ownersWith(async ({ records }) => {
      if (!records.some((record) => idOf(record) === 13)) return { rejected: [] };
      if (records.length === 1) tries += 1;
      throw new Fault("timeout", "database_timeout", "the database took too long");
    });
    await feed([item(1), item(13), item(2)], { targets });
    expect(await deadLetters()).toEqual([{ key: expect.any(String), cause: expect.stringContaining("timeout") }]);
    expect([...taken].sort()).toEqual([1, 2]);
    expect(tries).toBe(3);
  });

  it("[R1.24] waits for an owner in which others change the same", async () => {
    let asked = 0;
    const { targets, taken } = ownersWith(async () => {
      asked += 1;
      if (asked < 8) throw new Fault("conflict", "locked", "another transaction has it");
      return { rejected: [] };
    });
    await feed([item(1)], { targets, maxMs: 250 });
    expect(taken).toEqual([1]);
    expect(await deadLetters()).toEqual([]);
  });

  it("[D4.8] parks what is refused of an event with erased data without its content", async () => {
    const { targets } = ownersWith(async ({ records }) => ({
      rejected: records.map(({ line }) => ({ line, errors: [{ field: "email", messages: ["was erased"] }] })),
    }));
    const said = () =>
      db.many(
        sql`select payload is null as is_empty, cause like '%was erased%' as is_told from dead_letter order by id`,
      );
    await feed([item(1)], { targets });
    const request = { organizer: "o", event: "e", case: randomUUID(), kinds: ["order_emails"] };
    await noteCase(db, request);
    await takeOn(db, request);
    await feed([item(2)], { targets });
    expect(await said()).toEqual([
      { is_empty: false, is_told: true },
      { is_empty: true, is_told: true },
    ]);
  });

  it("[D3.17, D4.8] parks what is refused by the event that it names, whatever key it was sent with", async () => {
    const { targets } = ownersWith(async ({ records }) => ({
      rejected: records.map(({ line }) => ({ line, errors: [{ field: "email", messages: ["was erased"] }] })),
    }));
    await feed([item(1)], { targets, key: "ORDER-1" });
    await feed(
      [
        { ...item(3), event: undefined },
        { ...item(4), event: 7 },
      ],
      { targets, key: "x/y" },
    );
    const keys = (await deadLetters()).map(({ key }) => key.split("#")[0]);
    expect(keys).toEqual(["o/e", "o/", "x/y"]);
    const request = { organizer: "o", event: "e", case: randomUUID(), kinds: ["order_emails"] };
    await noteCase(db, request);
    await takeOn(db, request);
    await feed([item(2)], { targets, key: "" });
    expect(
      await db.many(sql`select payload is null as empty from dead_letter where key like 'o/e#%' order by id`),
    ).toEqual([{ empty: false }, { empty: true }]);
    expect(await deleteDeadLettersOf(db, keysOf({ organizer: "o", event: "e" }), [recordFeed.name])).toBe(2);
  });

  it("[R1.30] does not replay a parked record into the next event with the name", async () => {
    let isRejecting = true;
    const { targets, taken } = ownersWith(async ({ records }) => ({
      rejected: isRejecting ? records.map(({ line }) => ({ line, errors: [{ field: "item", messages: ["?"] }] })) : [],
    }));
    await feed([item(1), list(2), { ...item(3), event: "e2" }], { targets });
    const deletedAt = systemClock.now();
    await feed([item(4)], { targets });
    isRejecting = false;
    taken.length = 0;
    await tellOfEvents([
      { key: "o/e/", value: null, at: deletedAt },
      { key: "o/e/", value: { ...EventChanged.decode(new Uint8Array()), organizer: "o", event: "e", revision: 2 } },
    ]);
    expect((await deadLetters()).map(({ key }) => key.split("#")[0])).toEqual(["o/e2", "o/e"]);
    await requestReplays(db, { topic: recordFeed.name });
    await replayDeadLetters({ db, group: "gateway", consumers: [open(targets)], log }).run(never);
    expect(taken).toEqual([3, 4]);
  });

  it("lets its transaction go before the database ends it, and what was under way with it", async () => {
    const aborted: boolean[] = [];
    let frozen = true;
    const { targets, taken } = ownersWith(async (_request, { signal }) => {
      if (!frozen) return { rejected: [] };
      frozen = false;
      await new Promise((resolve) => signal?.addEventListener("abort", resolve));
      aborted.push(signal?.aborted === true);
      throw signal?.reason;
    });
    await feed([item(1)], { targets, maxMs: 300 });
    expect(aborted).toEqual([true]);
    expect(taken).toEqual([1]);
    expect(await deadLetters()).toEqual([]);
  });

  it("gets through many records that together take longer than a transaction may", async () => {
    const { targets, taken } = ownersWith(async () => {
      await sleep(60);
      return { rejected: [] };
    });
    const removed = (id: number) => ({ ...item(id), deleted: true });
    const records = Array.from({ length: 10 }, (_, round) => [list(round), removed(1000 + round)]).flat();
    await feed(records, { targets, maxMs: 400 });
    expect(new Set(taken).size).toBe(20);
    expect(await deadLetters()).toEqual([]);
  });

  it("does not wait for ever for readers that are behind", async () => {
    const { targets, taken } = ownersWith(async () => ({ rejected: [] }), { caughtUp: false });
    await feed([item(1), list(2), { ...item(3), deleted: true }, list(4)], { targets });
    expect(taken).toEqual([1, 2, 3, 4]);
  });

  it("ends at once when the process stops", async () => {
    const stopping = new AbortController();
    const closing = new AbortController();
    const { targets } = ownersWith((_request, { signal }) => {
      return new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    });
    const fed = feed([item(1)], { targets, stopping: stopping.signal, signal: closing.signal });
    const ended = fed.then(
      () => "accepted",
      () => "given back",
    );
    await sleep(200);
    stopping.abort();
    await sleep(20);
    closing.abort();
    expect(await ended).toBe("given back");
    expect(await db.many(sql`select fact_id from inbox`)).toEqual([]);
  });
});

describe("what a record of the feed is about", () => {
  const subject = (record: object) => recordFeed.fromOutside?.subject(Buffer.from(JSON.stringify(record)));

  it("[R1.25] is its kind and key within its event, whatever key its message has", () => {
    expect(subject({ ...item(1), data: { id: 1, name: "new" } })).toBe(subject(item(1)));
    const others = [item(2), list(1), { ...item(1), event: "f" }, { ...item(1), organizer: "p" }];
    expect(new Set([item(1), ...others].map(subject)).size).toBe(5);
  });

  it("[R1.25] is the same thing when its id comes in quotes", () => {
    expect(subject({ ...item(1), data: { id: "1" } })).toBe(subject(item(1)));
  });
});
