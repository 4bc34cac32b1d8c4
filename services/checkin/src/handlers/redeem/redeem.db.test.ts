import { sql } from "@tessera/kit/pg/sql";
import { OrderStatus } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { ScanDecided } from "@tessera/protos/gen/ticketing/checkin/v1/facts";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventFact, itemFact, minute, noon, order, place, positionFact, subeventFact } from "../../testing/facts.ts";
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
  await checkin.deliver(topics.itemChanged, [itemFact(10), itemFact(11)]);
  list = (await checkin.createList()).id;
});

const exit = { type: ScanType.EXIT };

interface StoredScan {
  list: number;
  position: number | null;
  type: string;
  successful: boolean;
  reason: string | null;
  raw_code: string | null;
  forced: boolean;
  force_sent: boolean;
  device_id: number | null;
  gate: number | null;
  at: number;
}

const storedScans = () =>
  checkin.db.many<StoredScan>(sql`
    select scan.list, scan.position, scan.type, scan.successful, scan.reason, scan.raw_code, scan.forced, scan.force_sent,
           scan.device_id, scan.gate, scan.at
      from scan
     order by scan.id`);

const published = async () =>
  (
    await checkin.db.many<{ key: string; payload: Buffer }>(sql`
    select outbox.key, outbox.payload
      from outbox
     where outbox.topic = ${topics.scanDecided.name}
     order by outbox.id`)
  ).map(({ key, payload }) => ({ key, ...ScanDecided.decode(payload) }));

describe("an admission", () => {
  beforeEach(() => checkin.deliver(topics.positionChanged, [positionFact(1)]));

  it("is stored, published, and shown with the new scan", async () => {
    const outcome = await checkin.redeem(scan(list, "secret1", { deviceId: 3, gate: 7 }));
    expect(outcome).toMatchObject({
      outcome: { $case: "admitted" },
      list: { id: list, name: "Entrance", includePending: false },
      position: {
        position: { id: 1, secret: "secret1" },
        attendeeName: "Visitor 1",
        requireAttention: false,
        downloads: ["pdf"],
        checkins: [{ list, at: noon, type: ScanType.ENTRY, gate: 7, device: 3, deviceId: 3, autoCheckedIn: false }],
      },
      checkinTexts: [],
    });
    expect(await storedScans()).toEqual([
      {
        list,
        position: 1,
        type: "entry",
        successful: true,
        reason: null,
        raw_code: null,
        forced: false,
        force_sent: false,
        device_id: 3,
        gate: 7,
        at: noon,
      },
    ]);
    expect(await published()).toEqual([
      {
        key: "bigevents/sampleconf/1",
        ...place,
        scan: outcome.position?.checkins[0]?.id,
        list,
        position: 1,
        type: ScanType.ENTRY,
        successful: true,
        reason: undefined,
        at: noon,
        overruled: undefined,
        outOfOrder: undefined,
      },
    ]);
  });

  it("[C3.29, C3.35] happens once; later scans are refused, and stored as well", async () => {
    expect(inWord(await checkin.redeem(scan(list, "secret1")))).toBe("admitted");
    const second = await checkin.redeem(scan(list, "secret1"));
    expect(inWord(second)).toBe("already_redeemed");
    expect(second.position?.checkins).toHaveLength(1);
    expect((await storedScans()).map(({ successful, reason }) => [successful, reason])).toEqual([
      [true, null],
      [false, "already_redeemed"],
    ]);
    expect((await published()).map(({ successful, reason }) => [successful, reason])).toEqual([
      [true, undefined],
      [false, "already_redeemed"],
    ]);
  });

  it("is one per list", async () => {
    const other = (await checkin.createList({ name: "Dinner" })).id;
    const outcomes = await checkin.redeemAll([scan(list, "secret1"), scan(other, "secret1"), scan(list, "secret1")]);
    expect(outcomes.map(inWord)).toEqual(["admitted", "admitted", "already_redeemed"]);
    expect(outcomes[1]?.position?.checkins.map((checkin) => checkin.list)).toEqual([other]);
  });

  it("may follow an exit, within one call and in its order", async () => {
    const outcomes = await checkin.redeemAll([
      scan(list, "secret1", { at: noon }),
      scan(list, "secret1", { at: noon + 1 }),
      scan(list, "secret1", { at: noon + 2, ...exit }),
      scan(list, "secret1", { at: noon + 3 }),
    ]);
    expect(outcomes.map(inWord)).toEqual(["admitted", "already_redeemed", "admitted", "admitted"]);
    expect(outcomes[3]?.position?.checkins.map(({ at, type }) => [at - noon, type])).toEqual([
      [3, ScanType.ENTRY],
      [2, ScanType.EXIT],
      [0, ScanType.ENTRY],
    ]);
  });

  it("[C3.32] keeps the order of arrival within one instant", async () => {
    const outcomes = await checkin.redeemAll([
      scan(list, "secret1", { at: noon }),
      scan(list, "secret1", { at: noon, ...exit }),
      scan(list, "secret1", { at: noon }),
      scan(list, "secret1", { at: noon }),
    ]);
    expect(outcomes.map(inWord)).toEqual(["admitted", "admitted", "admitted", "already_redeemed"]);
    const again = await checkin.redeem(scan(list, "secret1", { at: noon }));
    expect(again.position?.checkins.map(({ type }) => type)).toEqual([ScanType.ENTRY, ScanType.EXIT, ScanType.ENTRY]);
  });

  it("[C3.33] stores the instant that was sent, even a far one, and reports one that is ahead", async () => {
    const sent = [
      noon + 123_456,
      noon + 6 * minute,
      Date.UTC(1990, 0, 1) * 1000 + 1,
      Date.UTC(2200, 0, 1) * 1000 + 999_999,
    ];
    for (const at of sent) await checkin.redeem(scan(list, "secret1", { at, ...exit }));
    expect((await storedScans()).map(({ at }) => at)).toEqual(sent);
    expect(checkin.lines.filter((line) => line.includes("dated in the future"))).toHaveLength(2);
  });

  it("writes no code, name or address to a log", async () => {
    await checkin.redeemAll([scan(list, "secret1"), scan(list, "secret1"), scan(list, "nobody's code")]);
    expect(checkin.lines.some((line) => line.includes("not admitted"))).toBe(true);
    expect(checkin.lines.join("")).not.toMatch(/secret1|Visitor|nobody/);
  });
});

describe("a lookup", () => {
  beforeEach(() =>
    checkin.deliver(topics.positionChanged, [
      positionFact(1, { secret: "plain" }),
      positionFact(2, { secret: "with blank" }),
      positionFact(3, { secret: "PLAIN" }),
      positionFact(4, { secret: "canceled", canceled: true }),
      positionFact(5, { secret: "with+plus" }),
      positionFact(6, { secret: "with plus" }),
      positionFact(1000, { secret: "7" }),
    ]),
  );

  const found = async (lookup: string, changes = {}) => {
    const outcome = await checkin.redeem(scan(list, lookup, { ...exit, ...changes }));
    return outcome.position?.position?.id ?? outcome.outcome?.$case;
  };

  it("[C3.2] takes codes to the letter", async () => {
    expect(await found("plain")).toBe(1);
    expect(await found("PLAIN")).toBe(3);
    expect(await found("Plain")).toBe("unknownTicket");
    expect(await found("plai_")).toBe("unknownTicket");
  });

  it("[C3.4] takes plus signs for blanks where nothing has the code itself", async () => {
    expect(await found("with+blank")).toBe(2);
    expect(await found("with+plus")).toBe(5);
  });

  it("[C3.3] reads an id only where the input is trusted", async () => {
    expect(await found("1000", { untrustedInput: false })).toBe(1000);
    expect(await found("1000", { untrustedInput: true })).toBe("unknownTicket");
    expect(await found("7")).toBe(1000);
    expect(await found("99999999999999999999999999", { untrustedInput: false })).toBe("unknownTicket");
  });

  it("[C3.6] finds no canceled position and nothing of another event", async () => {
    await checkin.deliver(topics.eventChanged, [eventFact({ event: "other" })]);
    await checkin.deliver(topics.positionChanged, [{ ...positionFact(8, { secret: "elsewhere" }), event: "other" }]);
    expect(await found("canceled")).toBe("unknownTicket");
    expect(await found("elsewhere")).toBe("unknownTicket");
    expect(await found("plain", { event: "other" })).toBe("unknownList");
  });

  it.each([
    ["nothing", ""],
    ["a NUL", "\0"],
    ["a NUL at the end", "plain\0"],
    ["a picture", "🎫"],
    ["a statement", "'; drop table scan; --"],
    ["a backslash", "\\"],
    ["a wildcard", "%"],
    ["a novel", "x".repeat(20_000)],
  ])("answers unknown for %s, and stores that", async (_name, code) => {
    expect(await found(code)).toBe("unknownTicket");
    expect(await storedScans()).toMatchObject([{ position: null, successful: false, reason: "invalid" }]);
    expect(await published()).toMatchObject([{ successful: false, reason: "invalid", position: undefined }]);
  });

  it("stores nothing for an unknown list", async () => {
    expect(inWord(await checkin.redeem(scan(4711, "plain")))).toBe("unknownList");
    expect(await storedScans()).toEqual([]);
    expect(await published()).toEqual([]);
  });
});

describe("add-ons", () => {
  beforeEach(async () => {
    await checkin.deliver(topics.positionChanged, [
      positionFact(1, { secret: "base", item: 10 }),
      positionFact(2, { secret: "addon", item: 11, addonTo: 1, attendeeName: undefined, attendeeNameParts: {} }),
    ]);
  });

  it("[C3.5] answer to their parent's code where the list matches them", async () => {
    const addons = (await checkin.createList({ allProducts: false, limitProducts: [11], addonMatch: true })).id;
    const outcome = await checkin.redeem(scan(addons, "base"));
    expect(outcome).toMatchObject({
      outcome: { $case: "admitted" },
      position: { position: { id: 2 }, attendeeName: "Visitor 1" },
    });
    expect(outcome.position?.attendeeNameParts).toEqual({ full_name: "Visitor 1" });
  });

  it("[C3.5, C3.14] are ambiguous where the parent is on the list too, but not by their own code", async () => {
    const both = (await checkin.createList({ addonMatch: true })).id;
    const outcome = await checkin.redeem(scan(both, "base"));
    expect([inWord(outcome), outcome.position?.position?.id]).toEqual(["ambiguous", 1]);
    expect(inWord(await checkin.redeem(scan(both, "addon")))).toBe("admitted");
  });

  it("are not found by their parent's code elsewhere", async () => {
    const addons = (await checkin.createList({ allProducts: false, limitProducts: [11] })).id;
    const outcome = await checkin.redeem(scan(addons, "base"));
    expect([inWord(outcome), outcome.position?.position?.id]).toEqual(["product", 1]);
  });
});

it("[C3.35] the code of an ordinary admission is stored only with a nonce, to recognize the scan when it is sent again", async () => {
  await checkin.deliver(topics.positionChanged, [positionFact(1), positionFact(2)]);
  await checkin.redeem(scan(list, "secret1"));
  await checkin.redeem(scan(list, "secret2", { nonce: "n" }));
  expect((await storedScans()).map((row) => row.raw_code)).toEqual([null, "secret2"]);
});

describe("a nonce", () => {
  beforeEach(() => checkin.deliver(topics.positionChanged, [positionFact(1), positionFact(2)]));

  it("[C3.1] succeeds again and is stored once, whatever the type or device", async () => {
    const first = await checkin.redeem(scan(list, "secret1", { nonce: "n", deviceId: 1 }));
    const again = await checkin.redeem(scan(list, "secret1", { nonce: "n", deviceId: 2, ...exit }));
    expect([first, again].map(inWord)).toEqual(["admitted", "admitted"]);
    expect(again.position?.checkins).toEqual(first.position?.checkins);
    expect(await storedScans()).toHaveLength(1);
    expect(await published()).toHaveLength(1);
  });

  it("counts for one ticket on one list", async () => {
    const other = (await checkin.createList()).id;
    const sent = [scan(list, "secret1"), scan(list, "secret2"), scan(other, "secret1")];
    const outcomes = await checkin.redeemAll(sent.map((each) => ({ ...each, nonce: "n" })));
    expect(outcomes.map(inWord)).toEqual(["admitted", "admitted", "admitted"]);
    expect(await storedScans()).toHaveLength(3);
  });

  it("of a refusal does not affect other scans", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1, { blocked: ["admin"] }, { revision: 2 })]);
    expect(inWord(await checkin.redeem(scan(list, "secret1", { nonce: "n" })))).toBe("blocked");
    await checkin.deliver(topics.positionChanged, [positionFact(1, {}, { revision: 3 })]);
    expect(inWord(await checkin.redeem(scan(list, "secret1", { nonce: "n" })))).toBe("admitted");
  });

  it.each([
    ["the order was canceled", { order: order({ status: OrderStatus.CANCELED }) }],
    ["the position was canceled", { canceled: true }],
    ["the ticket got another code", { secret: "renewed" }],
    ["the ticket was moved to another date", { subevent: 5 }],
  ])("succeeds again although %s", async (_name, changes) => {
    await checkin.deliver(topics.positionChanged, [positionFact(1, { subevent: 4 }, { revision: 2 })]);
    await checkin.deliver(topics.eventChanged, [eventFact({ revision: 2, hasSubevents: true })]);
    await checkin.deliver(topics.subeventChanged, [subeventFact(4)]);
    const monday = await checkin.createList({ subevent: 4 });
    const sent = scan(monday.id, "secret1", { nonce: "n" });
    expect(inWord(await checkin.redeem(sent))).toBe("admitted");
    await checkin.deliver(topics.positionChanged, [positionFact(1, { subevent: 4, ...changes }, { revision: 3 })]);
    const again = await checkin.redeem(sent);
    expect([inWord(again), again.position?.position?.id]).toEqual(["admitted", 1]);
    expect(inWord(await checkin.redeem({ ...sent, nonce: "another" }))).not.toBe("admitted");
    expect((await storedScans()).filter(({ successful }) => successful)).toHaveLength(1);
  });

  it("[C3.1] of a forced scan succeeds again and is stored once, although its code leads to an add-on no more", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(3, { item: 11, addonTo: 1 })]);
    const ofAddons = { allProducts: false, limitProducts: [11] };
    const { id } = await checkin.createList({ ...ofAddons, addonMatch: true });
    const sent = scan(id, "secret1", { nonce: "n", force: true });
    const first = await checkin.redeem(sent);
    const change = { ...place, id, fields: listFields(ofAddons), updateMask: ["addon_match"] };
    await checkin.lists.updateCheckinList(change);
    const again = await checkin.redeemAll([
      sent,
      { ...sent, lookup: "secret2", nonce: "n2" },
      { ...sent, nonce: "n3" },
    ]);
    expect([first, ...again].map((each) => [inWord(each), each.position?.position?.id])).toEqual([
      ["admitted", 3],
      ["admitted", 3],
      ["admitted", 2],
      ["admitted", 1],
    ]);
    expect((await storedScans()).map(({ position }) => position).sort()).toEqual([1, 2, 3]);
  });

  it("[C3.1] of a forced scan succeeds again and is stored once, although another ticket has its code", async () => {
    const sent = scan(list, "secret1", { nonce: "n", force: true });
    await checkin.redeem(sent);
    await checkin.deliver(topics.positionChanged, [
      positionFact(1, { secret: "renewed" }, { revision: 2 }),
      positionFact(2, { secret: "secret1" }, { revision: 2 }),
    ]);
    const again = await checkin.redeem(sent);
    expect([inWord(again), again.position?.position?.id]).toEqual(["admitted", 1]);
    expect(await storedScans()).toHaveLength(1);
  });

  it("does not admit another code", async () => {
    expect(inWord(await checkin.redeem(scan(list, "secret1", { nonce: "n" })))).toBe("admitted");
    expect(inWord(await checkin.redeem(scan(list, "forged", { nonce: "n" })))).toBe("unknownTicket");
  });
});

describe("a refusal", () => {
  it("[C3.31] of a forced scan is stored as forced; an overridden one as success", async () => {
    await checkin.deliver(topics.positionChanged, [
      positionFact(1, { order: order({ status: OrderStatus.CANCELED }) }),
    ]);
    expect(inWord(await checkin.redeem(scan(list, "secret1", { canceledSupported: false })))).toBe("unpaid");
    expect(inWord(await checkin.redeem(scan(list, "nothing", { force: true })))).toBe("unknownTicket");
    expect(inWord(await checkin.redeem(scan(list, "secret1", { force: true })))).toBe("admitted");
    expect(await storedScans()).toMatchObject([
      { successful: false, reason: "unpaid", forced: false, force_sent: false },
      { successful: false, reason: "invalid", forced: true, force_sent: true },
      { successful: true, reason: null, forced: true, force_sent: true },
    ]);
  });

  it("[F3.1] that force overruled is stored and published with the scan, and so is an entry out of order", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1)]);
    await checkin.redeem(scan(list, "secret1", { type: ScanType.EXIT, at: noon + 2 * minute }));
    await checkin.redeem(scan(list, "secret1", { at: noon + 3 * minute }));
    await checkin.redeem(scan(list, "secret1", { at: noon + 4 * minute, force: true }));
    await checkin.redeem(scan(list, "secret1", { at: noon, force: true }));
    await checkin.redeem(scan(list, "secret1", { type: ScanType.EXIT, at: noon, force: true }));
    const expected = [
      ["exit", null, false],
      ["entry", null, false],
      ["entry", "already_redeemed", false],
      ["entry", "already_redeemed", true],
      ["exit", null, false],
    ];
    const rows = await checkin.db.many<{ type: string; overruled: string | null; late: boolean }>(
      sql`select scan.type, scan.overruled, scan.out_of_order as late from scan order by scan.id`,
    );
    expect(rows.map(({ type, overruled, late }) => [type, overruled, late])).toEqual(expected);
    const facts = (await published()).map(({ overruled, outOfOrder }) => [overruled ?? null, outOfOrder ?? false]);
    expect(facts).toEqual(expected.map(([, ...noted]) => noted));
  });

  it("[C3.36] shows attention and texts of order, variation and item", async () => {
    const variation = { id: 5, value: { en: "VIP" }, position: 1, checkinAttention: true, checkinText: "Red ribbon" };
    await checkin.deliver(topics.itemChanged, [
      itemFact(12, { checkinText: "Check the badge", variations: [variation] }),
    ]);
    await checkin.deliver(topics.positionChanged, [
      positionFact(1, { item: 12, variation: 5, blocked: ["x"], order: order({ checkinText: "Ask for Ann" }) }),
      positionFact(2, { item: 12, order: order({ checkinText: "" }) }),
      positionFact(3, { item: 10, order: order({ checkinAttention: true }) }),
    ]);
    const [vip, plain, watched] = await checkin.redeemAll([1, 2, 3].map((id) => scan(list, `secret${id}`)));
    expect(vip).toMatchObject({
      checkinTexts: ["Ask for Ann", "Red ribbon", "Check the badge"],
      position: { requireAttention: true },
    });
    expect(plain).toMatchObject({ checkinTexts: ["Check the badge"], position: { requireAttention: false } });
    expect(watched).toMatchObject({ checkinTexts: [], position: { requireAttention: true } });
  });
});

describe("one bad scan", () => {
  it("fails alone", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1), positionFact(2), positionFact(3)]);
    const outcomes = await checkin.redeemAll([
      scan(list, "secret1"),
      scan(list, "secret2", { organizer: "no\0body" }),
      scan(list, "secret2", { nonce: "x".repeat(191) }),
      scan(list, "secret3"),
    ]);
    expect(outcomes.map(inWord)).toEqual(["admitted", "undecided", "undecided", "admitted"]);
    expect(await storedScans()).toHaveLength(2);
  });
});
