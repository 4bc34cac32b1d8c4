import { sql } from "@tessera/kit/pg/sql";
import { pause } from "@tessera/kit/waiting/pause";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { rollFrom } from "@tessera/testkit/dice";
import { erase } from "@tessera/testkit/erase";
import { questionDocument } from "@tessera/testkit/question-document";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { forgetChanges, markChanges } from "../../store/changes.ts";
import {
  blockedSecretFact,
  eventFact,
  itemFact,
  mediumFact,
  order,
  place,
  positionFact,
  questionFact,
  revokedSecretFact,
  subeventFact,
} from "../../testing/facts.ts";
import { FeedReader } from "../../testing/feed-reader.ts";
import { type RunningCheckin, scan, startCheckin } from "../../testing/start-checkin.ts";
import { nameScope, readCursor, writeCursor } from "../../wire/sync-cursor.ts";

let database: TestDatabase;
let checkin: RunningCheckin;

beforeAll(async () => {
  database = await createTestDatabase([
    { schema: "checkin", migrations: new URL("../../../migrations/", import.meta.url) },
  ]);
  checkin = await startCheckin(database.open("checkin"));
});
afterAll(() => database.drop());
beforeEach(async () => {
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact()]);
  await checkin.deliver(topics.itemChanged, [itemFact(10)]);
});

const { organizer } = place;
const asked = { organizer, mustExist: false, hashed: false, waitMs: 0 };
const tombstone = (id: number) => `${organizer}/${place.event}/${id}`;
const gate = (asked: object = {}) => new FeedReader(checkin.sync, { organizer, ...asked });

/** What a gate has that reads everything now. */
async function copied(asked: object = {}) {
  const reader = gate(asked);
  await reader.readAll();
  return reader.held;
}

describe("the first copy", () => {
  it("[F1.1] has every kind, in the order of events and kinds", async () => {
    const { id: list } = await checkin.createList({ rules: '{\n"and": [true]}', name: "Hall\n1" });
    await checkin.deliver(topics.subeventChanged, [subeventFact(3)]);
    await checkin.deliver(topics.questionChanged, [questionFact(4)]);
    await checkin.deliver(topics.revokedSecretChanged, [revokedSecretFact(5)]);
    await checkin.deliver(topics.blockedSecretChanged, [blockedSecretFact(6)]);
    await checkin.deliver(topics.positionChanged, [
      positionFact(7, { secret: "seven", attendeeName: "Zoë\u2028", order: order({ checkinText: "Stop" }) }),
    ]);
    await checkin.deliver(topics.reusableMediumChanged, [mediumFact(7), mediumFact(8, { linkedPositions: [] })]);
    await checkin.redeem(scan(list, "seven", { gate: 9, deviceId: 3 }));
    const reader = gate();
    const lines = await reader.readAll();
    expect(lines.map(({ kind }) => kind)).toEqual([
      ...["event", "subevent", "item", "question", "list", "revoked", "blocked", "ticket", "presence", "medium"],
    ]);
    const { event } = place;
    expect(reader.held.get(`list/${event}/${list}`)).toMatchObject({
      name: "Hall\n1",
      rules: { and: [true] },
      exit_all_at: null,
    });
    expect(reader.held.get(`ticket/${event}/7`)).toMatchObject({
      ...{ order: "ABC01", secret: "seven", order_status: "paid", attendee_name: "Zoë\u2028", checkin_text: "Stop" },
      ...{ canceled: false, blocked: false, valid_from: null, answered: [], require_attention: false },
    });
    expect(reader.held.get(`presence/${event}/7/${list}`)).toEqual({
      ...{ entries: 1, last_type: "entry", last_datetime: "2026-11-21T12:00:00Z" },
      scans: [{ type: "entry", datetime: "2026-11-21T12:00:00Z", gate: 9, device: 3 }],
    });
    expect(reader.held.get("medium/7")).toMatchObject({ identifier: "047", tickets: [{ event, id: 7 }] });
    expect(reader.held.get(`blocked/${event}/6`)).toEqual({ secret: "blocked6", blocked: true });
    expect(await reader.readAll()).toEqual([]);
  });

  it("[F1.3] has nothing of other events, organizers, or media of theirs", async () => {
    const elsewhere = { event: "other" };
    await checkin.deliver(topics.eventChanged, [eventFact(elsewhere), eventFact({ organizer: "rivals" })]);
    await checkin.deliver(topics.positionChanged, [
      positionFact(1),
      { ...positionFact(2), ...elsewhere },
      { ...positionFact(3), organizer: "rivals" },
    ]);
    const both = {
      linkedPositions: [
        { event: place.event, id: 1 },
        { event: "other", id: 2 },
      ],
    };
    await checkin.deliver(topics.reusableMediumChanged, [
      mediumFact(1, both),
      mediumFact(2, { linkedPositions: [{ event: "other", id: 2 }] }),
    ]);
    const one = await copied({ among: { slugs: [place.event] } });
    expect([...one.keys()].sort()).toEqual([
      ...[`event/${place.event}/0`, `item/${place.event}/10`, "medium/1", `ticket/${place.event}/1`],
    ]);
    expect(one.get("medium/1")).toMatchObject({ tickets: [{ event: place.event, id: 1 }] });
    expect([...(await copied()).keys()]).toContain("ticket/other/2");
    expect([...(await copied()).keys()]).not.toContain(`ticket/${place.event}/3`);
  });
});

describe("an answer", () => {
  it("[F1.8] ends after a second, however little there is in each of many events", async () => {
    const events = Array.from({ length: 50 }, (_, index) => ({ event: `other${index}` }));
    await checkin.deliver(topics.eventChanged, events.map(eventFact));
    const started = performance.now();
    let passed = 0;
    vi.spyOn(performance, "now").mockImplementation(() => {
      passed += 20;
      return started + passed;
    });
    const reader = gate();
    expect(await reader.read()).toMatchObject({ isComplete: false });
    expect(reader.held.size).toBeLessThan(50);
    vi.restoreAllMocks();
    await reader.readAll();
    expect(reader.held).toEqual(await copied());
    expect(reader.held.size).toBe(52);
    const slugs = [place.event, ...events.map(({ event }) => event)].reverse();
    expect(await copied({ among: { slugs } })).toEqual(reader.held);
  });
});

describe("events that there are not", () => {
  it.each(["theirs", "a b", "a\0", "../a"])("[F1.3] are refused: %j", async (slug) => {
    const among = { slugs: [place.event, slug] };
    const read = checkin.sync.readChanges({ ...asked, among, mustExist: true, after: "" });
    await expect(read).rejects.toMatchObject({ code: "unknown_events" });
  });

  it("[F1.3] are refused with whatever cursor, where no event may have such a name", async () => {
    const made = readCursor((await checkin.sync.readChanges({ ...asked, after: "" })).cursor);
    if (made === undefined) throw new Error("the feed gave no cursor");
    const among = { slugs: ["a\0"] };
    const after = writeCursor({ ...made, scope: nameScope({ organizer, events: among.slugs }), place: null });
    const read = checkin.sync.readChanges({ ...asked, among, after });
    await expect(read).rejects.toMatchObject({ code: "unknown_events" });
  });
});

describe("changes", () => {
  it("[F1.4] tell each entity as it is now, once, and what is gone", async () => {
    const list = await checkin.createList();
    await checkin.deliver(topics.positionChanged, [positionFact(1, { secret: "one" }), positionFact(2)]);
    const reader = gate();
    await reader.readAll();
    await checkin.redeem(scan(list.id, "one"));
    await checkin.redeem(scan(list.id, "one", { type: ScanType.EXIT }));
    await checkin.deliver(topics.positionChanged, [positionFact(1, { secret: "new" }, { revision: 2 })]);
    await checkin.deliver(topics.positionChanged, [tombstone(2)]);
    await checkin.lists.deleteCheckinList({ ...place, id: list.id });
    const lines = await reader.readAll();
    const named = lines.map(({ kind, id, deleted, data }) => [kind, id, deleted ?? data?.secret ?? data?.entries]);
    expect(named.sort()).toEqual(
      [
        ["ticket", 1, "new"],
        ["ticket", 2, true],
        ["list", list.id, true],
        ["presence", 1, true],
      ].sort(),
    );
    expect(reader.held).toEqual(await copied());
  });

  it("[F1.5] of transactions that were open when the gate read are not missed, whatever was committed in between", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1), positionFact(2)]);
    const reader = gate();
    await reader.readAll();
    const [isOpen, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const early = database.open("checkin").transaction(async (tx) => {
      await tx.run(sql`update position set blocked = true where id = 1`);
      isOpen.resolve();
      await mayEnd.promise;
    });
    await isOpen.promise;
    await checkin.db.run(sql`update position set blocked = true where id = 2`);
    expect((await reader.readAll()).map(({ id }) => id)).toEqual([2]);
    mayEnd.resolve();
    await early;
    expect((await reader.readAll()).map(({ id }) => id)).toEqual([1]);
    expect(await reader.readAll()).toEqual([]);
  });

  it("[F1.6] of a deleted event end with it, and begin again when it is back", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1)]);
    const reader = gate();
    await reader.readAll();
    await checkin.deliver(topics.eventChanged, [`${organizer}/${place.event}`]);
    expect(await reader.readAll()).toMatchObject([{ kind: "event", event: place.event, deleted: true }]);
    await checkin.deliver(topics.eventChanged, [eventFact({ revision: 5 })]);
    expect(await reader.readAll()).toMatchObject([{ kind: "event", data: { timezone: "Europe/Berlin" } }]);
    expect(reader.held).toEqual(await copied());
  });

  it.each([
    ["all events", {}],
    ["the event", { among: { slugs: [place.event] } }],
  ])(
    "[F1.6] of %s lead to what there is when a rebuild has left an event out, and it is back",
    async (_name, asked) => {
      const list = await checkin.createList();
      await checkin.deliver(topics.positionChanged, [positionFact(1, { secret: "one" }), positionFact(2)]);
      await checkin.deliver(topics.revokedSecretChanged, [revokedSecretFact(5)]);
      await checkin.deliver(topics.reusableMediumChanged, [mediumFact(1)]);
      await checkin.redeem(scan(list.id, "one"));
      const before = gate(asked);
      await before.readAll();
      await checkin.sweep(topics.eventChanged, 100);
      await before.readAll();
      expect(before.held.has(`event/${place.event}/0`)).toBe(false);
      const meanwhile = gate(asked);
      await meanwhile.readAll();
      expect(meanwhile.held).toEqual(before.held);
      await checkin.deliver(topics.positionChanged, [tombstone(2)]);
      await checkin.deliver(topics.eventChanged, [eventFact({ revision: 101 })]);
      const now = await copied(asked);
      expect([...now.keys()]).toEqual(expect.arrayContaining([`event/${place.event}/0`, `ticket/${place.event}/1`]));
      for (const reader of [before, meanwhile]) {
        await reader.readAll();
        expect(reader.held).toEqual(now);
      }
    },
  );

  it("[F1.6] tell what a rebuild and an erasure take away", async () => {
    const list = await checkin.createList();
    const document = Buffer.from(questionDocument(1, { type: "T", required: false }));
    await checkin.deliver(topics.questionChanged, [questionFact(1, { items: [10], document })]);
    await checkin.deliver(topics.positionChanged, [
      positionFact(1, { secret: "one" }, { revision: 5 }),
      positionFact(2, { secret: "two" }, { revision: 6 }),
    ]);
    const answers = [{ question: 1, value: '"vegan"', file: undefined }];
    for (const code of ["one", "two"]) await checkin.redeem(scan(list.id, code, { answers }));
    const reader = gate();
    await reader.readAll();
    expect(reader.held.get(`ticket/${place.event}/2`)).toMatchObject({ answered: [1] });
    await checkin.sweep(topics.positionChanged, 6);
    expect((await reader.readAll()).map(({ kind, id, deleted }) => [kind, id, deleted])).toEqual([
      ["presence", 1, true],
      ["ticket", 1, true],
    ]);
    await erase(checkin, place, { kinds: ["question_answers"] });
    await reader.readAll();
    expect(reader.held.get(`ticket/${place.event}/2`)).toMatchObject({ answered: [] });
    expect(reader.held).toEqual(await copied());
  });

  it("[F1.7] a medium that leaves an event is gone there", async () => {
    await checkin.deliver(topics.reusableMediumChanged, [mediumFact(1)]);
    const reader = gate({ among: { slugs: [place.event] } });
    await reader.readAll();
    const moved = { linkedPositions: [{ event: "other", id: 2 }], revision: 2 };
    await checkin.deliver(topics.reusableMediumChanged, [mediumFact(1, moved)]);
    expect(await reader.readAll()).toEqual([{ kind: "medium", id: 1, deleted: true }]);
  });

  it.each([1, 2, 3])("[F1.8] random ones lead every gate to the rows, wherever it was cut off (%i)", async (seed) => {
    const dice = rollFrom(seed + Math.floor(Date.now() / 1000) * 10);
    const lists = [await checkin.createList(), await checkin.createList()];
    const ids = Array.from({ length: 40 }, (_, index) => index + 1);
    await checkin.deliver(
      topics.positionChanged,
      ids.map((id) => positionFact(id, { secret: `t${id}` })),
    );
    const others = [database.open("checkin"), database.open("checkin"), database.open("checkin")];
    let revision = 1;
    let isOver = false;
    const writers: (() => Promise<unknown>)[] = [
      async () => {
        revision += 1;
        const id = dice.pick(ids);
        const gone = tombstone(id);
        const there = positionFact(id, { secret: `t${id}`, blocked: dice.below(2) ? ["x"] : [] }, { revision });
        await checkin.deliver(topics.positionChanged, [dice.below(5) === 0 ? gone : there]);
      },
      () =>
        checkin.redeem(scan(dice.pick(lists).id, `t${dice.pick(ids)}`, dice.below(3) ? {} : { type: ScanType.EXIT })),
      async () => {
        revision += 1;
        await checkin.deliver(topics.reusableMediumChanged, [mediumFact(dice.pick(ids), { revision })]);
      },
      () => checkin.createList({ name: `List ${dice.below(100)}` }),
      ...others.map((db) => async () => {
        const wanted = ids.filter(() => dice.below(10) === 0);
        const commits = dice.below(4) > 0;
        await db
          .transaction(async (tx) => {
            await tx.run(sql`update item set position = position + 1 where id = 10 and ${dice.below(4) === 0}`);
            await tx.run(sql`update presence set entries = entries + 1 where position = any(${wanted}::bigint[])`);
            await pause(dice.below(30));
            if (!commits) throw new Error("taken back");
          })
          .catch(() => {});
      }),
    ];
    const gates = [gate(), gate({ among: { slugs: [place.event] } }), gate()];
    const write = async (writer: () => Promise<unknown>) => {
      for (let turn = 0; turn < 40; turn += 1) await writer();
    };
    const follow = async (reader: FeedReader) => {
      while (!isOver) {
        await reader.read({ isLost: dice.below(3) === 0, waitMs: dice.pick([0, 20, 700]) });
        await pause(dice.below(10));
      }
      await reader.readAll();
    };
    const following = gates.map(follow);
    await Promise.all(writers.map(write)).finally(() => {
      isOver = true;
    });
    await Promise.all(following);
    const [all, one, other] = gates;
    const now = await copied();
    expect(now.size).toBeGreaterThan(40);
    expect(all?.held, `seed ${dice.seed}`).toEqual(now);
    expect(one?.held, `seed ${dice.seed}`).toEqual(now);
    expect(other?.held, `seed ${dice.seed}`).toEqual(now);
  });
});

describe("a wait for changes", () => {
  it("[F1.9] ends with the change, for all gates at once", async () => {
    const list = await checkin.createList();
    await checkin.deliver(topics.positionChanged, [positionFact(1, { secret: "one" })]);
    const gates = Array.from({ length: 20 }, () => gate());
    for (const reader of gates) await reader.readAll();
    // A gate may be told again what it knows.
    const untilScanned = async (reader: FeedReader) => {
      for (;;) {
        const { lines } = await reader.read({ waitMs: 20_000 });
        expect(lines).not.toEqual([]);
        const scanned = lines.filter(({ kind }) => kind === "presence");
        if (scanned.length > 0) return scanned;
      }
    };
    const waits = gates.map(untilScanned);
    await pause(100);
    await checkin.redeem(scan(list.id, "one"));
    for (const heard of await Promise.all(waits)) expect(heard).toMatchObject([{ id: 1, data: { entries: 1 } }]);
    for (const reader of gates) expect(await reader.readAll()).toEqual([]);
  });

  it("[F1.9] goes on for all gates when the one that began it goes away", async () => {
    const [first, second, third] = [gate(), gate(), gate()];
    for (const reader of [first, second, third]) await reader.readAll();
    const leaving = new AbortController();
    const left = checkin.sync.readChanges(
      { organizer, mustExist: false, hashed: false, after: first.cursor, waitMs: 20_000 },
      { signal: leaving.signal, timeoutMs: 25_000 },
    );
    await pause(100);
    const waits = [second, third].map((reader) => reader.read({ waitMs: 20_000 }));
    await pause(100);
    leaving.abort();
    await expect(left).rejects.toBeInstanceOf(Error);
    await checkin.createList();
    for (const { lines } of await Promise.all(waits)) expect(lines).toMatchObject([{ kind: "list" }]);
  });

  it("[F1.9, F5.3] that ends in the middle of many changes says that there are more", async () => {
    const reader = gate();
    await reader.readAll();
    const waiting = reader.read({ waitMs: 20_000 });
    await pause(100);
    await checkin.db.run(sql`
      insert into revoked_secret (organizer, event, id, revision, secret)
      select ${organizer}, ${place.event}, id, 1, repeat('x', 300) from generate_series(1, 5000) as id`);
    expect(await waiting).toMatchObject({ isComplete: false });
    expect(readCursor(reader.cursor)?.place).not.toBeNull();
    for (let isComplete = false; !isComplete; ) {
      ({ isComplete } = await reader.read({ waitMs: 20 }));
      expect(isComplete).toBe(readCursor(reader.cursor)?.place === null);
    }
    expect(reader.held).toEqual(await copied());
  });

  it("[F1.9] ends without lines when nothing changes, with a cursor to go on from", async () => {
    const reader = gate();
    await reader.readAll();
    expect(await reader.read({ waitMs: 50 })).toEqual({ lines: [], isComplete: true });
    await checkin.createList();
    expect(await reader.readAll()).toMatchObject([{ kind: "list" }]);
  });
});

describe("a cursor", () => {
  const read = (changes: object) =>
    checkin.sync.readChanges({ organizer, mustExist: false, hashed: false, waitMs: 0, after: "", ...changes });

  it.each(["x", "AAAA", "../..", `${"A".repeat(30_000)}`])("[F1.10] that is none is refused", async (after) => {
    await expect(read({ after })).rejects.toMatchObject({ code: "invalid_cursor" });
  });

  it("[F1.10] that was cut, changed, or is of another organizer is refused", async () => {
    const { cursor } = await read({});
    for (const after of [cursor.slice(0, -1), cursor.slice(0, 20), `${cursor}A`, cursor.replace(/.$/, "_")]) {
      await expect(read({ after })).rejects.toMatchObject({ code: "invalid_cursor" });
    }
    await expect(read({ after: cursor, organizer: "rivals" })).rejects.toMatchObject({ code: "invalid_cursor" });
  });

  it("[F1.11] of other events, or that is too old, asks to begin again", async () => {
    const reader = gate();
    await reader.readAll();
    expect(await read({ after: reader.cursor, among: { slugs: ["other"] } })).toMatchObject({ isTooOld: true });
    await markChanges(checkin.db, { keptDays: 7 });
    await checkin.createList();
    await forgetChanges(checkin.db);
    expect(await reader.readAll()).toMatchObject([{ kind: "list" }]);
    // A transaction of any other test that is still open keeps the changes since it began.
    const readAfterWeeks = async () => {
      await checkin.createList();
      await checkin.db.run(sql`update change_mark set marked_at = marked_at - interval '8 days'`);
      await markChanges(checkin.db, { keptDays: 7 });
      await forgetChanges(checkin.db);
      return read({ after: reader.cursor });
    };
    await expect.poll(readAfterWeeks).toMatchObject({ isTooOld: true });
    expect((await gate().readAll()).length).toBeGreaterThan(1);
  });

  it("[F1.11] of another database asks to begin again, also on the same server", async () => {
    const reader = gate();
    await reader.readAll();
    const restored = await createTestDatabase([
      { schema: "checkin", migrations: new URL("../../../migrations/", import.meta.url) },
    ]);
    try {
      const there = await startCheckin(restored.open("checkin"));
      expect(await there.sync.readChanges({ ...asked, after: reader.cursor })).toMatchObject({ isTooOld: true });
      const { cursor } = await there.sync.readChanges({ ...asked, after: "" });
      expect(await there.sync.readChanges({ ...asked, after: cursor })).toMatchObject({ isTooOld: false });
    } finally {
      await restored.drop();
    }
  });

  it("[F1.11] of a moment that the database has yet to reach asks to begin again", async () => {
    const reader = gate();
    await reader.readAll();
    const cursor = readCursor(reader.cursor);
    if (cursor === undefined) throw new Error("the feed gave no cursor");
    const [, end = ""] = cursor.since.split(":");
    const ahead = String(BigInt(end) + 1_000_000n);
    const after = writeCursor({ ...cursor, since: `${ahead}:${ahead}:` });
    expect(await read({ after })).toMatchObject({ isTooOld: true });
  });
});
