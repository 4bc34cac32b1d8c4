import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "@tessera/kit/pg/sql";
import { PositionChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { RedeemResponse, type Scan } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { Scans } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventFact, itemFact, minute, noon, positionFact } from "../../testing/facts.ts";
import { inWord, listFields, type RunningCheckin, scan, startCheckin } from "../../testing/start-checkin.ts";

let database: TestDatabase;
let checkin: RunningCheckin;
let list: number;

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
  list = (await checkin.createList()).id;
});

/** Scans several codes in one call, as a gateway does. */
async function redeemTogether(scans: readonly Scan[], patienceMs = 50) {
  const from = performance.now();
  const { outcomes } = await checkin.connect(Scans).redeem({ scans: [...scans], patienceMs }, { timeoutMs: 20_000 });
  return { words: outcomes.map(inWord), ms: performance.now() - from };
}

const storedScans = async () =>
  (await checkin.db.one<{ scans: number }>(sql`select count(*)::integer as scans from scan`)).scans;

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

it("[C3.48] a scan whose caller gives up while it is read is not stored", async () => {
  await checkin.deliver(topics.positionChanged, [positionFact(1)]);
  const sent = { scans: [scan(list, "secret1", { nonce: "given up" })] };
  await checkin.db.transaction(async (tx) => {
    await tx.run(sql`lock table question in access exclusive mode`);
    await expect(checkin.connect(Scans).redeem(sent, { timeoutMs: 300 })).rejects.toMatchObject({ kind: "timeout" });
  });
  // A later scan of the same code is decided after it.
  expect((await redeemTogether([scan(list, "secret1", { type: ScanType.EXIT })], 5000)).words).toEqual(["admitted"]);
  expect(await storedScans()).toBe(1);
});

describe("[C3.49] a scan that was sent again and refused", () => {
  const nonce = "twice";
  const exit = { type: ScanType.EXIT };

  beforeEach(async () => {
    list = (await checkin.createList({ allowEntryAfterExit: true })).id;
    await checkin.deliver(topics.positionChanged, [positionFact(1), positionFact(2)]);
    const { words } = await redeemTogether([scan(list, "secret1")]);
    const refused = await redeemTogether([scan(list, "secret1", { nonce })]);
    const left = await redeemTogether([scan(list, "secret1", exit)]);
    expect([words, refused.words, left.words]).toEqual([["admitted"], ["already_redeemed"], ["admitted"]]);
  });

  it("is not admitted by the sending that its scanner has given up, and those that came with it are decided", async () => {
    const late = scan(list, "secret1", { nonce, ageMs: 1500 });
    const other = scan(list, "secret2", { nonce: "another", ageMs: 1500 });
    expect((await redeemTogether([late, other])).words).toEqual(["failed", "admitted"]);
    expect(await storedScans()).toBe(4);
  });

  it("is decided again when it is sent once more, and a late repetition of that is admitted, too", async () => {
    const again = scan(list, "secret1", { nonce, ageMs: 200 });
    expect((await redeemTogether([again])).words).toEqual(["admitted"]);
    // It is stored as admitted now, which a late repetition is told.
    expect((await redeemTogether([{ ...again, ageMs: 5000 }])).words).toEqual(["admitted"]);
    expect(await storedScans()).toBe(4);
  });

  it("is admitted on another list; so are another ticket, and a late scan without a nonce", async () => {
    const elsewhere = (await checkin.createList()).id;
    const scans = [
      scan(elsewhere, "secret1", { nonce, ageMs: 1500 }),
      scan(list, "secret2", { nonce, ageMs: 1500 }),
      scan(list, "secret1", { ageMs: 1500 }),
    ];
    expect((await redeemTogether(scans)).words).toEqual(["admitted", "admitted", "admitted"]);
  });
});

// What takes milliseconds, a busy machine disturbs in one of many tries. After it boxoffice is left alone for two seconds.
describe("[C3.41] a scan that is held back", { retry: 3 }, () => {
  beforeEach(async ({ task }) => {
    if ((task.result?.retryCount ?? 0) > 0) await sleep(2100);
  });

  it("by another change of its ticket is undecided and not stored, and those that came with it are decided", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1), positionFact(2)]);
    await checkin.db.transaction(async (tx) => {
      await tx.run(sql`select position.id from position where position.id = 1 for update`);
      // Patience that suffices for the other scan on a busy machine.
      const { words, ms } = await redeemTogether([scan(list, "secret1"), scan(list, "secret2")], 500);
      expect(words).toEqual(["undecided", "admitted"]);
      // The other change lasts as long as this call.
      expect(ms).toBeLessThan(5000);
      expect(await storedScans()).toBe(1);
    });
    expect((await redeemTogether([scan(list, "secret1")])).words).toEqual(["admitted"]);
  });

  it("by the question to boxoffice is undecided, and those that came with it are decided", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(2)]);
    const sold = Promise.withResolvers<Uint8Array[]>();
    checkin.sold = () => sold.promise;
    const { words, ms } = await redeemTogether([scan(list, "secret1"), scan(list, "secret2")]);
    expect(words).toEqual(["undecided", "admitted"]);
    // Had boxoffice been waited for, the scan would be decided.
    expect(ms).toBeLessThan(1500);
    const again = redeemTogether([scan(list, "secret1")], 3000);
    sold.resolve([PositionChanged.encode(positionFact(1)).finish()]);
    expect((await again).words).toEqual(["admitted"]);
    expect(new Set(checkin.asked)).toEqual(new Set(["secret1"]));
  });

  it("leaves boxoffice free for the codes of another organizer", async () => {
    const other = { organizer: "other", event: "sampleconf" };
    await checkin.deliver(topics.eventChanged, [eventFact(other)]);
    const theirs = await checkin.lists.createCheckinList({ ...other, fields: listFields() });
    checkin.sold = () => new Promise(() => {});
    const calls = numbers(4).map((call) => redeemTogether([scan(list, `unknown${call}`)]));
    await expect.poll(() => checkin.asked.length).toBe(2);
    await redeemTogether([scan(theirs.list?.id ?? 0, "theirs", other)]);
    expect(checkin.asked).toHaveLength(3);
    expect(checkin.asked).toContain("theirs");
    expect((await Promise.all(calls)).map(({ words }) => words[0]).sort()).toEqual([
      "undecided",
      "undecided",
      "unknownTicket",
      "unknownTicket",
    ]);
  });
});

describe("[C3.42] many scans of one ticket", () => {
  it("delay the scans of others by one place in a batch, and each of them is decided", async () => {
    const { id } = await checkin.createList({ allowMultipleEntries: true });
    await checkin.deliver(
      topics.positionChanged,
      numbers(20).map((ticket) => positionFact(ticket)),
    );
    const ended: string[] = [];
    const hot = numbers(60).map(async () => {
      const outcome = await checkin.redeem(scan(id, "secret1", { type: ScanType.EXIT }));
      ended.push("hot");
      return inWord(outcome);
    });
    const others = numbers(19).map(async (other) => {
      const outcome = await checkin.redeem(scan(id, `secret${other + 1}`));
      ended.push("other");
      return inWord(outcome);
    });
    expect(new Set(await Promise.all([...hot, ...others]))).toEqual(new Set(["admitted"]));
    // All others were decided while most of the busy ticket's scans still waited.
    expect(ended.lastIndexOf("other")).toBeLessThan(40);
    expect(await storedScans()).toBe(79);
  });
});

describe("[C3.43] scans whose answers are too large for one message", () => {
  const answers = [
    { question: 7, answer: "x".repeat(200_000), questionIdentifier: "Q", options: [], optionIdentifiers: [] },
  ];

  it("are all answered, without what does not fit", async () => {
    const tickets = numbers(64);
    await checkin.deliver(
      topics.positionChanged,
      tickets.map((id) => positionFact(id, { answers })),
    );
    const { words } = await redeemTogether(tickets.map((id) => scan(list, `secret${id}`)));
    expect(words).toEqual(tickets.map(() => "admitted"));
    expect(await storedScans()).toBe(64);
  });

  it("share the resources that they asked for", async () => {
    const document = Buffer.from(JSON.stringify({ description: "x".repeat(400_000) }));
    await checkin.deliver(topics.itemChanged, [itemFact(10, { revision: 2, document })]);
    const tickets = numbers(64);
    await checkin.deliver(
      topics.positionChanged,
      tickets.map((id) => positionFact(id)),
    );
    const expand = { subevent: false, item: true, variation: false, answersQuestion: false, addons: false };
    const response = await checkin
      .connect(Scans)
      .redeem({ scans: tickets.map((id) => scan(list, `secret${id}`, { expand })), patienceMs: 50 });
    expect(response.outcomes.map(inWord)).toEqual(tickets.map(() => "admitted"));
    expect(response.outcomes.map(({ documentsAt }) => documentsAt)).toEqual([
      undefined,
      ...tickets.slice(1).map(() => 0),
    ]);
    expect(RedeemResponse.encode(response).finish().length).toBeLessThan(1_000_000);
  });
});

describe("[C3.44] a ticket with a long history", () => {
  it("shows its newest 100 scans, and rules count all of them", async () => {
    const rules = JSON.stringify({ "<": [{ var: "entries_number" }, 151] });
    const { id } = await checkin.createList({ allowMultipleEntries: true, rules });
    await checkin.deliver(topics.positionChanged, [positionFact(1)]);
    for (let entry = 1; entry <= 151; entry += 1) {
      const outcome = await checkin.redeem(scan(id, "secret1", { at: noon + entry * minute }));
      expect(inWord(outcome)).toBe("admitted");
      expect(outcome.position?.checkins).toHaveLength(Math.min(entry, 100));
      expect(outcome.position?.checkins[0]?.at).toBe(noon + entry * minute);
    }
    expect(inWord(await checkin.redeem(scan(id, "secret1")))).toBe("rules");
  });
});
