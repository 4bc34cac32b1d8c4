import type { ListPositionsRequest } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventFact, itemFact, noon, order, place, position, positionFact, subeventFact } from "../testing/facts.ts";
import { type RunningCheckin, scan, startCheckin } from "../testing/start-checkin.ts";

let database: TestDatabase;
let checkin: RunningCheckin;
let list: number;

beforeAll(async () => {
  database = await createTestDatabase([
    { schema: "checkin", migrations: new URL("../../migrations/", import.meta.url) },
  ]);
  checkin = await startCheckin(database.open("checkin"));
});
afterAll(() => database.drop());
beforeEach(async () => {
  await checkin.forgetEverything();
  await checkin.deliver(topics.eventChanged, [eventFact()]);
  await checkin.deliver(topics.itemChanged, [itemFact(10), itemFact(11)]);
  list = (await checkin.createList()).id;
});

const page = (changes: Partial<ListPositionsRequest> = {}) =>
  checkin.positions.listPositions({
    ...place,
    list,
    page: 1,
    pageSize: 50,
    ordering: [],
    ignoreStatus: false,
    searchOnly: false,
    ...changes,
  });
const ids = async (changes: Partial<ListPositionsRequest> = {}) => {
  const { positions, count } = await page(changes);
  expect(count).toBe(positions.length);
  return positions.map(({ position }) => position?.id);
};
const anyOrder = async (changes: Partial<ListPositionsRequest>) =>
  (await ids(changes)).sort((a, b) => (a ?? 0) - (b ?? 0));

describe("the tickets of a list", () => {
  beforeEach(() =>
    checkin.deliver(topics.positionChanged, [
      positionFact(1),
      positionFact(2, { item: 11 }),
      positionFact(3, { subevent: 5 }),
      positionFact(4, { order: order({ status: "ORDER_STATUS_PENDING" }) }),
      positionFact(5, { order: order({ status: "ORDER_STATUS_PENDING", validIfPending: true }) }),
      positionFact(6, { order: order({ status: "ORDER_STATUS_CANCELED" }) }),
      positionFact(7, { order: order({ status: "ORDER_STATUS_EXPIRED" }) }),
      positionFact(8, { canceled: true }),
      { ...positionFact(9), event: "other" },
    ]),
  );

  it.each([
    ["everything", {}, [1, 2, 3, 5], [1, 2, 3, 4, 5, 6, 7]],
    ["pending orders too", { includePending: true }, [1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6, 7]],
    ["one product", { allProducts: false, limitProducts: [11] }, [2], [2]],
    ["no product", { allProducts: false }, [], []],
  ])("of %s", async (_name, fields, expected, whatever) => {
    list = (await checkin.createList(fields)).id;
    expect(await anyOrder({})).toEqual(expected);
    expect(await anyOrder({ ignoreStatus: true })).toEqual(whatever);
  });

  it("are those of its date", async () => {
    await checkin.deliver(topics.eventChanged, [eventFact({ revision: 2, hasSubevents: true })]);
    await checkin.deliver(topics.subeventChanged, [subeventFact(5)]);
    list = (await checkin.createList({ subevent: 5 })).id;
    expect(await ids()).toEqual([3]);
  });

  it("are shown one by one, by the same terms", async () => {
    const get = (id: number, changes = {}) =>
      checkin.positions.getPosition({ ...place, list, id, ignoreStatus: false, ...changes });
    expect(await get(1)).toMatchObject({ position: { position: { id: 1 }, attendeeName: "Visitor 1" } });
    expect(await get(4, { ignoreStatus: true })).toMatchObject({ position: { position: { id: 4 } } });
    const missing = { kind: "not_found", code: "position_not_found" };
    for (const id of [4, 8, 9, 4711]) await expect(get(id)).rejects.toMatchObject(missing);
    await expect(get(8, { ignoreStatus: true })).rejects.toMatchObject(missing);
    await expect(get(1, { list: list + 1 })).rejects.toMatchObject({ code: "checkin_list_not_found" });
    await expect(page({ list: list + 1 })).rejects.toMatchObject({ code: "checkin_list_not_found" });
    await expect(page({ event: "nowhere" })).rejects.toMatchObject({ code: "event_not_found" });
  });
});

describe("a search", () => {
  beforeEach(() =>
    checkin.deliver(topics.positionChanged, [
      positionFact(1, { attendeeName: "Jürgen Groß", attendeeEmail: "jg@example.org", secret: "AbCdEf123" }),
      positionFact(2, { attendeeName: undefined, addonTo: 1, secret: "zzz1" }),
      positionFact(3, { attendeeName: "100% Ann_a", company: "Ignored & Sons", secret: "zzz2" }),
      positionFact(4, {
        attendeeName: undefined,
        secret: "zzz3",
        order: order({
          code: "XYZ99",
          email: "buyer@shop.example",
          invoiceName: { name: "Invoice Person", nameParts: {}, company: "Tessera GmbH" },
        }),
      }),
      positionFact(5, { attendeeName: "Θεοδωρος", secret: "zzz4" }),
    ]),
  );

  it.each([
    ["a name and its add-ons", "gross", [1, 2]],
    ["capitals and ß", "JÜRGEN GROSS", [1, 2]],
    ["the middle of a name", "rgen gr", [1, 2]],
    ["an e-mail address and its add-ons", "jg@exam", [1, 2]],
    ["the beginning of a code, in any case", "aBcDeF", [1]],
    ["not the middle of a code", "BcDeF", []],
    ["wildcards as letters", "0% ann_", [3]],
    ["no wildcards", "100_ ann", []],
    ["a company", "ignored & s", [3]],
    ["a company on the invoice", "tessera g", [4]],
    ["a name on the invoice", "invoice p", [4]],
    ["an order's e-mail address", "shop.exam", [4]],
    ["the beginning of an order code", "xyz9", [4]],
    ["not the middle of an order code", "yz99", []],
    ["sigma at the end as in the middle", "δωροσ", [5]],
    ["two fields at once: nothing", "groß\njg", []],
    ["two letters: beginnings of words", "gr", [1, 2]],
    ["two letters: not within words", "ro", []],
    ["two letters: beginnings of codes", "AB", [1, 2, 3, 5]],
    ["one letter", "x", [4]],
    ["one letter of a name", "θ", [5]],
    ["nothing", "", [1, 2, 3, 4, 5]],
    ["a quote", "' or 1=1 --", []],
    ["a backslash", "\\", []],
  ])("finds %s", async (_name, search, expected) => {
    expect(await anyOrder({ search })).toEqual(expected);
  });

  it("by somebody who may only search needs three characters", async () => {
    expect(await ids({ searchOnly: true })).toEqual([]);
    expect(await ids({ searchOnly: true, search: "gr" })).toEqual([]);
    expect(await anyOrder({ searchOnly: true, search: "gro" })).toEqual([1, 2]);
    await expect(page({ searchOnly: true, page: 2 })).rejects.toMatchObject({ code: "invalid_page" });
  });

  it("goes with an order code, in any case", async () => {
    expect(await ids({ order: "xYz99" })).toEqual([4]);
    expect(await ids({ order: "xyz" })).toEqual([]);
    expect(await ids({ order: "xyz99", search: "gross" })).toEqual([]);
    expect(await ids({ order: "" })).toHaveLength(5);
  });
});

describe("the order", () => {
  beforeEach(async () => {
    await checkin.deliver(topics.positionChanged, [
      positionFact(1, {
        attendeeName: "bob",
        positionid: 3,
        order: order({ code: "C", placedAt: noon + 2, email: "c@x" }),
      }),
      positionFact(2, {
        attendeeName: "Ann",
        positionid: 2,
        order: order({ code: "A", placedAt: noon + 3, email: "b@x" }),
      }),
      positionFact(3, {
        attendeeName: undefined,
        addonTo: 1,
        positionid: 1,
        order: order({ code: "B", placedAt: noon + 1, email: "a@x" }),
      }),
      positionFact(4, {
        attendeeName: "Ann",
        positionid: 1,
        order: order({ code: "D", placedAt: noon, email: "d@x" }),
      }),
    ]);
    await checkin.redeem(scan(list, "secret2", { at: noon + 5 }));
    await checkin.redeem(scan(list, "secret4", { at: noon - 5 }));
  });

  it.each([
    [[], [4, 2, 1, 3]],
    [
      ["nonsense", "-nonsense"],
      [4, 2, 1, 3],
    ],
    [["attendee_name"], [4, 2, 3, 1]],
    [
      ["-attendee_name", "positionid"],
      [3, 1, 4, 2],
    ],
    [["order__code"], [2, 3, 1, 4]],
    [["-order__datetime"], [2, 1, 3, 4]],
    [["order__email"], [3, 2, 1, 4]],
    [
      ["positionid", "-order__code"],
      [4, 3, 2, 1],
    ],
    [["last_checked_in"], [3, 1, 4, 2]],
    [["-last_checked_in"], [2, 4, 3, 1]],
  ])("by %j", async (ordering, expected) => {
    expect(await ids({ ordering })).toEqual(expected);
  });

  it("by name puts tickets without one last", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(5, { attendeeName: "" })]);
    expect(await ids({})).toEqual([4, 2, 1, 3, 5]);
  });

  it("turns pages", async () => {
    const turn = (number: number) => page({ page: number, pageSize: 3 });
    expect((await turn(1)).positions.map(({ position }) => position?.id)).toEqual([4, 2, 1]);
    expect(await turn(0)).toMatchObject({ page: 2, count: 4, positions: [{ position: { id: 3 } }] });
    await expect(turn(3)).rejects.toMatchObject({ kind: "not_found", code: "invalid_page" });
    expect(await page({ pageSize: 5000 })).toMatchObject({ page: 1, count: 4 });
  });
});

describe("a ticket", () => {
  it("comes back as it was sent, with what its list knows", async () => {
    const full = position(1, {
      attendeeName: undefined,
      attendeeNameParts: {},
      addonTo: 2,
      item: 10,
      answers: [{ question: 1, answer: "Ja 🎫", questionIdentifier: "Q", options: [2], optionIdentifiers: ["O"] }],
      seat: { id: 1, name: "A1", seatGuid: "guid", zoneName: "Z", rowName: "A", seatNumber: "1" },
      blocked: ["admin", "api"],
      validFrom: noon + 1,
      order: order({ invoiceName: { name: "Payer", nameParts: { full_name: "Payer" }, company: "" } }),
    });
    await checkin.deliver(topics.positionChanged, [
      { ...place, revision: 1, position: full, earlierCheckins: [] },
      positionFact(2, { attendeeName: undefined, attendeeNameParts: {} }),
    ]);
    const { position: shown } = await checkin.positions.getPosition({ ...place, list, id: 1, ignoreStatus: false });
    expect(shown).toEqual({
      position: full,
      attendeeName: "Payer",
      attendeeNameParts: { full_name: "Payer" },
      checkins: [],
      requireAttention: false,
      downloads: [],
    });
  });

  it("shows its successful scans on this list alone, newest first", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1)]);
    const other = (await checkin.createList()).id;
    const exit = { type: "SCAN_TYPE_EXIT" } as const;
    await checkin.redeemAll([
      scan(list, "secret1", { at: noon }),
      scan(list, "secret1", { at: noon + 1 }),
      scan(other, "secret1", { at: noon + 2 }),
      scan(list, "secret1", { at: noon + 3, ...exit }),
    ]);
    const { positions } = await page();
    expect(positions[0]?.checkins.map(({ list: on, at, type }) => [on, at - noon, type])).toEqual([
      [list, 3, "SCAN_TYPE_EXIT"],
      [list, 0, "SCAN_TYPE_ENTRY"],
    ]);
  });
});
