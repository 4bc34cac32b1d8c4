import { createHash } from "node:crypto";
import { topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { type Dice, rollFrom } from "@tessera/testkit/dice";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventFact, itemFact, mediumFact, place, positionFact } from "../../testing/facts.ts";
import type { FeedLine } from "../../testing/feed-reader.ts";
import { type RunningCheckin, startCheckin } from "../../testing/start-checkin.ts";

const { organizer, event } = place;
const theirs = { event: "theirs" };

let database: TestDatabase;
let checkin: RunningCheckin;

beforeAll(async () => {
  database = await createTestDatabase([
    { schema: "checkin", migrations: new URL("../../../migrations/", import.meta.url) },
  ]);
  checkin = await startCheckin(database.open("checkin"));
  await checkin.deliver(topics.eventChanged, [eventFact(), eventFact(theirs)]);
  await checkin.deliver(topics.itemChanged, [itemFact(10), { ...itemFact(11), ...theirs }]);
  await checkin.deliver(topics.positionChanged, [positionFact(1), { ...positionFact(2), ...theirs }]);
  await checkin.deliver(topics.reusableMediumChanged, [
    mediumFact(1),
    mediumFact(2, { linkedPositions: [{ event: "theirs", id: 2 }] }),
  ]);
});
afterAll(() => database.drop());

const read = (after: string, waitMs = 0) =>
  checkin.sync.readChanges({
    ...{ organizer, among: { slugs: [event] }, mustExist: false, hashed: false, waitMs, after },
  });

function open(cursor: string): unknown[] {
  return JSON.parse(Buffer.from(cursor, "base64url").subarray(8).toString()) as unknown[];
}

/** With the check that its content needs. */
function forge(content: unknown): string {
  const bytes = Buffer.from(JSON.stringify(content));
  return Buffer.concat([createHash("sha256").update(bytes).digest().subarray(0, 8), bytes]).toString("base64url");
}

it.each(["event", "item", "ticket"])("[F1.3, F1.10] that names another event shows no %s of it", async (kind) => {
  const made = open((await read("")).cursor).slice(0, 5);
  const forged = forge([...made, { in: "events", event: "theirs", kind, id: -1 }]);
  await expect(read(forged)).rejects.toMatchObject({ code: "invalid_cursor" });
});

it.each([
  ["5:3:", null],
  ["0:0:", null],
  ["5:9:8,7", null],
  ["5:9:4", null],
  ["5:9:9", null],
  ["5:9:6,6", null],
  ["05:9:", null],
  ["5:9", null],
  ["5:9:", { in: "events", event: "a\0", kind: "item", id: -1 }],
  ["5:9:", { in: "events", event: "\ud800", kind: "item", id: -1 }],
  ["5:9:", { in: "events", event, kind: "toString", id: -1 }],
  ["5:9:", { in: "events", event, kind: "presence", id: -1 }],
  ["5:9:", { in: "events", event, kind: "item", id: 1.5 }],
  ["5:9:", { in: "media", id: -2 }],
  ["5:9:", { in: "media", id: 2 ** 53 }],
  ["5:9:", { in: "changes", until: "7:3:", changedIn: "1", id: 0 }],
  ["5:9:", { in: "changes", until: "5:9:", changedIn: "", id: 0 }],
  ["5:9:", { in: "changes", until: "5:9:", changedIn: "1", id: null }],
  ["5:9:", { in: "elsewhere", id: 1 }],
  ["5:9:", "media"],
])("[F1.10] with %s and %j is refused", async (since, at) => {
  const made = open((await read("")).cursor).slice(0, 4);
  await expect(read(forge([...made, since, at]))).rejects.toMatchObject({ code: "invalid_cursor" });
});

it("[F1.3, F1.10] random forgeries show nothing of other events, and break nothing", async () => {
  const dice = rollFrom(Math.floor(Date.now() / 1000));
  const ended = open((await read("")).cursor);
  const [since] = [ended[4] as string];
  const places = [
    null,
    { in: "events", event, kind: "item", id: -1 },
    { in: "media", id: -1 },
    { in: "changes", until: since, changedIn: "1", id: 0 },
  ];
  let shown = 0;
  for (let turn = 0; turn < 400; turn += 1) {
    const made = [...ended.slice(0, 4), dice.pick([since, "1:1:"]), dice.pick(places)];
    const forged = forge(mutate(made, dice));
    const lines = await read(forged, dice.pick([0, 0, 1])).then(parse, (error: unknown) => {
      expect(error, `seed ${dice.seed}: ${JSON.stringify(open(forged))}`).toMatchObject({ code: "invalid_cursor" });
      return [];
    });
    shown += lines.length;
    const told = lines.filter((line) => (line.event ?? event) !== event || (line.kind === "medium" && line.id === 2));
    expect(told, `seed ${dice.seed}: ${JSON.stringify(open(forged))}`).toEqual([]);
  }
  expect(shown).toBeGreaterThan(0);
});

function parse({ lines }: { readonly lines: Uint8Array }): FeedLine[] {
  const texts = Buffer.from(lines).toString().split("\n").slice(0, -1);
  return texts.map((text) => JSON.parse(text) as FeedLine);
}

const values: readonly unknown[] = [
  ...["", "theirs", event, "a\0", "\ud800", "event", "item", "ticket", "media", "events", "changes", "rivals", "x/1/2"],
  ...[
    "1:1:",
    "0:0:",
    "3:1:",
    "1:9:2,2",
    "1:9:12",
    "9999999999999999999:9999999999999999999:",
    "1:99999999999:",
    "-1:1:",
  ],
  ...["0", "1", "9999999999999999999", "99999999999999999999", "-1"],
  ...[0, -1, -5, 1.5, 1e300, Number.MAX_SAFE_INTEGER, null, true, [], {}, [1], { in: "media", id: -1 }],
  { in: "events", event: "theirs", kind: "event", id: -1 },
];

/** Changes some of the values inside, or leaves some out, or adds some. */
function mutate(value: unknown, dice: Dice): unknown {
  if (dice.below(12) === 0) return dice.pick(values);
  if (Array.isArray(value)) {
    const changed = value.map((part, index) => (index < 3 && dice.below(4) > 0 ? part : mutate(part, dice)));
    return dice.below(30) === 0 ? [...changed, dice.pick(values)] : changed;
  }
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(() => dice.below(30) > 0);
  const changed = Object.fromEntries(kept.map(([name, part]) => [name, mutate(part, dice)]));
  return dice.below(30) === 0 ? { ...changed, more: dice.pick(values) } : changed;
}
