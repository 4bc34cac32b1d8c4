import type { ListPositionsRequest } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import { askIds, askIdsInOrder, askOne, askPage } from "../../testing/ask-positions.ts";
import { checkinDatabase } from "../../testing/database.ts";
import { eventFact, itemFact, noon, order, place, position, positionFact, subeventFact } from "../../testing/facts.ts";
import { scan, startCheckin } from "../../testing/start-checkin.ts";

let list: number;

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
beforeEach(async () => {
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact()]);
  await checkin.deliver(topics.itemChanged, [itemFact(10), itemFact(11)]);
  list = (await checkin.createList()).id;
});

const page = (changes: Partial<ListPositionsRequest> = {}) => askPage({ checkin, list }, changes);
const ids = (changes: Partial<ListPositionsRequest> = {}) => askIds({ checkin, list }, changes);
const anyOrder = (changes: Partial<ListPositionsRequest>) => askIdsInOrder({ checkin, list }, changes);

describe("[C2.1, C2.2, C2.3, C2.4] the tickets of a list", () => {
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

  it("[C2.5] are shown one by one, by the same terms", async () => {
    const get = (id: number, changes = {}) => askOne({ checkin, list }, id, changes);
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

describe("[C2.16, C2.17] the order", () => {
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
    await expect(turn(3)).rejects.toMatchObject({ kind: "not_found", code: "page_not_found" });
    expect(await page({ pageSize: 5000 })).toMatchObject({ page: 1, count: 4 });
  });
});

describe("a ticket", () => {
  it("[C2.18] comes back as it was sent, with what its list knows", async () => {
    const full = position(1, {
      attendeeName: undefined,
      attendeeNameParts: {},
      addonTo: 2,
      item: 10,
      voucher: 7,
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
    const { position: shown } = await askOne({ checkin, list }, 1);
    expect(shown).toEqual({
      position: full,
      attendeeName: "Payer",
      attendeeNameParts: { full_name: "Payer" },
      checkins: [],
      requireAttention: false,
      downloads: [],
      addons: [],
    });
  });

  it("[C2.19] shows its successful scans on this list alone, newest first", async () => {
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

  const payer = { name: "Payer", nameParts: { full_name: "Payer" }, company: "" };
  const nameless = { name: "", nameParts: {}, company: "Tessera GmbH" };

  it.each([
    ["its own", "Own", "Parent", payer, "Own"],
    ["its parent's", undefined, "Parent", payer, "Parent"],
    ["its parent's, where its own is empty", "", "Parent", payer, "Parent"],
    ["that of the invoice address", undefined, undefined, payer, "Payer"],
    ["that of an invoice address without one", undefined, "", nameless, ""],
    ["none", undefined, undefined, undefined, undefined],
  ] as const)("[C2.20] has %s for a name, with its parts", async (_name, own, parent, invoiceName, expected) => {
    const named = (name: string | undefined) => ({
      attendeeName: name,
      attendeeNameParts: name ? { full_name: name } : {},
    });
    await checkin.deliver(topics.positionChanged, [
      positionFact(1, { ...named(own), addonTo: 2, order: order(invoiceName && { invoiceName }) }),
      positionFact(2, { ...named(parent) }),
    ]);
    expect((await askOne({ checkin, list }, 1)).position).toMatchObject({
      attendeeName: expected,
      attendeeNameParts: expected ? { full_name: expected } : {},
    });
  });

  it.each([
    ["nothing does", {}, {}, {}, false],
    ["its order does", { checkinAttention: true }, {}, {}, true],
    ["its item does", {}, { checkinAttention: true }, {}, true],
    ["its variation does", {}, {}, { checkinAttention: true }, true],
  ] as const)("[C2.21] asks for attention: %s", async (_name, ofOrder, ofItem, ofVariation, expected) => {
    const variation = (id: number) => ({ id, value: {}, position: 1, checkinAttention: id === 99 });
    await checkin.deliver(topics.itemChanged, [
      itemFact(12, { ...ofItem, variations: [{ ...variation(1), ...ofVariation }, variation(99)] }),
    ]);
    await checkin.deliver(topics.positionChanged, [positionFact(1, { item: 12, variation: 1, order: order(ofOrder) })]);
    expect((await askOne({ checkin, list }, 1)).position?.requireAttention).toBe(expected);
  });

  it("[C2.22] can be downloaded where its order, its item and the event allow it", async () => {
    await checkin.deliver(topics.itemChanged, [itemFact(12, { generateTickets: false })]);
    await checkin.deliver(topics.positionChanged, [
      positionFact(1),
      positionFact(2, { item: 12 }),
      positionFact(3, { addonTo: 1 }),
      positionFact(4, { blocked: ["admin"] }),
      positionFact(5, { order: order({ status: "ORDER_STATUS_PENDING" }) }),
      positionFact(6, { order: order({ status: "ORDER_STATUS_PENDING", validIfPending: true }) }),
    ]);
    const { positions } = await page({ ignoreStatus: true });
    const offered = positions.filter(({ downloads }) => downloads.includes("pdf"));
    expect(offered.map(({ position: shown }) => shown?.id)).toEqual([1, 6]);
  });
});
