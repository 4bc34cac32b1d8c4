import type { PositionFilters } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { topics } from "@tessera/protos/topics";
import { beforeAll, describe, expect, it } from "vitest";
import { askIds, askIdsInOrder, askOne, askPage, filters } from "../../testing/ask-positions.ts";
import { checkinDatabase } from "../../testing/database.ts";
import { eventFact, itemFact, noon, order, positionFact, subeventFact, voucherFact } from "../../testing/facts.ts";
import { scan, startCheckin } from "../../testing/start-checkin.ts";

let list: number;

const variation = (id: number) => ({ id, value: {}, position: id, checkinAttention: false });
const status = (word: "PENDING" | "EXPIRED" | "CANCELED", code: string) =>
  order({ status: `ORDER_STATUS_${word}`, code });

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
beforeAll(async () => {
  await checkin.deliver(topics.eventChanged, [eventFact({ hasSubevents: true }), eventFact({ event: "other" })]);
  await checkin.deliver(topics.subeventChanged, [
    subeventFact(5),
    subeventFact(6),
    { ...subeventFact(9), event: "other" },
  ]);
  await checkin.deliver(topics.itemChanged, [
    itemFact(10),
    itemFact(11, { variations: [variation(21), variation(22)] }),
    itemFact(12),
    { ...itemFact(13, { variations: [variation(29)] }), event: "other" },
  ]);
  await checkin.deliver(topics.positionChanged, [
    positionFact(1, { attendeeName: "Ann Lee", subevent: 5, secret: "Abc", pseudonymizationId: "Pseudo1" }),
    positionFact(2, { attendeeName: undefined, addonTo: 1, item: 11, variation: 21, subevent: 5 }),
    positionFact(3, { attendeeName: "ANN LEE", item: 11, variation: 22, subevent: 6, secret: "abc", voucher: 77 }),
    positionFact(4, { attendeeName: "Ann Leeds", item: 12, attendeeEmail: "ann lee", order: order({ code: "Zz9" }) }),
    positionFact(5, { attendeeName: "Bob", company: "Ann Lee", order: status("PENDING", "PEND1") }),
    positionFact(6, { attendeeName: "Weiß", voucher: 76, order: status("EXPIRED", "EXP01") }),
    positionFact(7, { attendeeName: "", attendeeEmail: "Bob", order: status("CANCELED", "CAN01") }),
    positionFact(8, { attendeeName: "Ann Lee", canceled: true, addonTo: 3 }),
    { ...positionFact(9, { attendeeName: "Ann Lee", voucher: 78 }), event: "other" },
  ]);
  await checkin.deliver(topics.voucherChanged, [
    voucherFact(77, { code: "FRIENDS", redeemed: 0 }),
    voucherFact(79, { code: "UNUSED", redeemed: 0 }),
    { ...voucherFact(78, { code: "STRANGERS" }), event: "other" },
  ]);
  list = (await checkin.createList({ allowMultipleEntries: true })).id;
  const elsewhere = (await checkin.createList()).id;
  await checkin.redeemAll([
    scan(list, "Abc", { at: noon }),
    scan(list, "secret4", { type: "SCAN_TYPE_EXIT" }),
    scan(elsewhere, "abc"),
    scan(list, "secret5"),
  ]);
});
const ids = (parameter: string, ...numbers: number[]) => [{ ids: numbers, parameter }];
/** Regardless of the state of the order. */
const chosen = (choice: Partial<PositionFilters>, changes = {}) =>
  askIdsInOrder({ checkin, list }, { filters: filters(choice), ignoreStatus: true, ...changes });

describe("[C2.12, C2.35] tickets are chosen by", () => {
  it.each([
    ["a name, in any case, with its add-ons", { attendeeName: "ann lee" }, [1, 2, 3]],
    ["a name as people read it", { attendeeName: "WEISS" }, [6]],
    ["a whole name, not its beginning", { attendeeName: "ann" }, []],
    ["a name, not what else is written there", { attendeeName: "bob" }, [5]],
    ["a name with wildcards as letters", { attendeeName: "ann%" }, []],
    ["a secret, to the letter", { secret: "abc" }, [3]],
    ["a secret, not its beginning", { secret: "ab" }, []],
    ["a pseudonym, to the letter", { pseudonymizationId: "Pseudo1" }, [1]],
    ["a pseudonym in another case", { pseudonymizationId: "pseudo1" }, []],
    ["a voucher", { voucher: 77 }, [3]],
    ["a voucher that is gone", { voucher: 76 }, [6]],
    ["a voucher that was never used", { voucher: 79 }, []],
    ["the code of a voucher, to the letter", { voucherCode: "FRIENDS" }, [3]],
    ["the code of a voucher in another case", { voucherCode: "friends" }, []],
    ["the code of a voucher, not its beginning", { voucherCode: "FRIEND" }, []],
    ["the code of a voucher of another event", { voucherCode: "STRANGERS" }, []],
    ["the code of a voucher that was never used", { voucherCode: "UNUSED" }, []],
    ["the code of a voucher, and its id", { voucherCode: "FRIENDS", voucher: 77 }, [3]],
    ["the code of a voucher, and the id of another", { voucherCode: "UNUSED", voucher: 77 }, []],
    ["a code with a null character", { voucherCode: "FRI\0ENDS" }, []],
    ["an item", { items: ids("item", 11) }, [2, 3]],
    ["one of several items", { items: ids("item__in", 11, 12) }, [2, 3, 4]],
    ["an item that is also one of several", { items: [...ids("item", 11), ...ids("item__in", 12, 11)] }, [2, 3]],
    ["an item that is none of several", { items: [...ids("item", 11), ...ids("item__in", 12)] }, []],
    ["a variation", { variations: ids("variation", 21) }, [2]],
    ["one of several variations", { variations: ids("variation__in", 21, 22) }, [2, 3]],
    ["a date", { subevents: ids("subevent", 5) }, [1, 2]],
    ["one of several dates", { subevents: ids("subevent__in", 5, 6) }, [1, 2, 3]],
    ["what they are add-ons of", { addonTo: ids("addon_to", 1) }, [2]],
    ["what they are add-ons of, where all are canceled", { addonTo: ids("addon_to__in", 3) }, []],
    ["the add-ons of a canceled one", { addonTo: ids("addon_to", 8) }, []],
    ["one status", { orderStatuses: { words: ["e"] } }, [6]],
    ["several statuses", { orderStatuses: { words: ["n", "c"] } }, [5, 7]],
    ["several statuses, of which one is unknown", { orderStatuses: { words: ["p", "x", ""] } }, [1, 2, 3, 4]],
    ["a status that is unknown", { orderStatuses: { words: ["x", "P", "paid"] } }, []],
    ["a scan of either type on this list", { hasCheckin: true }, [1, 4]],
    ["no scan on this list", { hasCheckin: false }, [2, 3, 5, 6, 7]],
    ["a name and an item", { attendeeName: "ann lee", items: ids("item", 11) }, [2, 3]],
    [
      "a name, an item, a date and what they are add-ons of",
      { attendeeName: "ann lee", items: ids("item", 11), subevents: ids("subevent", 5), addonTo: ids("addon_to", 1) },
      [2],
    ],
  ] satisfies [string, Partial<PositionFilters>, number[]][])("%s", async (_name, choice, expected) => {
    expect(await chosen(choice)).toEqual(expected);
  });

  it("an order code, in any case, and not by its beginning", async () => {
    expect(await chosen({}, { order: "zZ9" })).toEqual([4]);
    expect(await chosen({}, { order: "zz" })).toEqual([]);
    expect(await chosen({ hasCheckin: false }, { order: "zz9" })).toEqual([]);
    expect(await chosen({}, { order: "" })).toHaveLength(7);
  });

  it("filters that are left out: none of them leaves anything out", async () => {
    expect(await chosen({})).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it("what the list has: filters add nothing to it", async () => {
    expect(await chosen({ orderStatuses: { words: ["n", "c", "p"] } }, { ignoreStatus: false })).toEqual([1, 2, 3, 4]);
  });

  it("filters and search together, in an order, by pages", async () => {
    const choice = { filters: filters({ items: ids("item__in", 10, 11) }), search: "ann lee", ignoreStatus: true };
    expect(await askIds({ checkin, list }, { ...choice, ordering: ["-positionid", "-last_checked_in"] })).toEqual([
      1, 5, 3, 2,
    ]);
    const second = await askPage(
      { checkin, list },
      { ...choice, page: 2, pageSize: 3, ordering: ["-last_checked_in"] },
    );
    expect(second).toMatchObject({ count: 4, page: 2, positions: [{}] });
  });
});

describe("[C2.13] ids that are not of this event", () => {
  it.each([
    ["an item of another event", { items: ids("item", 13) }, ["item"]],
    ["an item that is not known", { items: ids("item__in", 10, 4711) }, ["item__in"]],
    ["a variation of another event", { variations: ids("variation", 29) }, ["variation"]],
    ["an item in the place of a variation", { variations: ids("variation__in", 11, 21) }, ["variation__in"]],
    ["a date of another event", { subevents: ids("subevent", 9) }, ["subevent"]],
    ["a ticket of another event", { addonTo: ids("addon_to__in", 9) }, ["addon_to__in"]],
    ["a voucher of another event", { voucher: 78 }, ["voucher"]],
    [
      "several of them at once",
      {
        items: [...ids("item", 13), ...ids("item__in", 10)],
        subevents: [...ids("subevent", 5), ...ids("subevent__in", 9)],
        addonTo: ids("addon_to", 4711),
      },
      ["addon_to", "item", "subevent__in"],
    ],
  ] satisfies [string, Partial<PositionFilters>, string[]][])(
    "%s are refused by name",
    async (_name, choice, wrong) => {
      const refusal = await askPage({ checkin, list }, { filters: filters(choice) }).catch((error: unknown) => error);
      expect(refusal).toMatchObject({ kind: "invalid" });
      expect(Object.keys((refusal as { fields: object }).fields).sort()).toEqual(wrong);
      await expect(askOne({ checkin, list }, 1, { filters: filters(choice) })).rejects.toMatchObject({
        kind: "invalid",
      });
    },
  );

  it("are named with the parameter, and not all of very many", async () => {
    const many = Array.from({ length: 60 }, (_, index) => 1000 + index);
    const refusal = await askPage(
      { checkin, list },
      { filters: filters({ items: ids("item__in", ...many, ...many) }) },
    ).catch((error: unknown) => error);
    const { fields } = refusal as { fields: Record<string, string[]> };
    expect(new Set(fields["item__in"])).toHaveLength(51);
    expect(fields["item__in"]?.[0]).toContain("1000");
    expect(fields["item__in"]?.at(-1)).toBe("and 10 more");
  });

  it("come after a list, and a ticket, that are not there", async () => {
    const unknown = { filters: filters({ items: ids("item", 13) }) };
    await expect(askPage({ checkin, list: list + 10 }, unknown)).rejects.toMatchObject({ kind: "not_found" });
    await expect(askOne({ checkin, list }, 4711, unknown)).rejects.toMatchObject({ kind: "not_found" });
  });
});

describe("[C2.5] a single ticket", () => {
  it.each([
    ["a name", { attendeeName: "ANN lee" }, { attendeeName: "bob" }],
    ["an item", { items: ids("item", 10) }, { items: ids("item", 11) }],
    ["a scan", { hasCheckin: true }, { hasCheckin: false }],
    ["a status", { orderStatuses: { words: ["p"] } }, { orderStatuses: { words: ["n"] } }],
  ] satisfies [string, Partial<PositionFilters>, Partial<PositionFilters>][])(
    "is chosen by %s like any other",
    async (_name, itsOwn, anothers) => {
      expect(await askOne({ checkin, list }, 1, { filters: filters(itsOwn) })).toMatchObject({
        position: { position: { id: 1 } },
      });
      await expect(askOne({ checkin, list }, 1, { filters: filters(anothers) })).rejects.toMatchObject({
        code: "position_not_found",
      });
    },
  );

  it("is searched and chosen by its order like any other", async () => {
    await askOne({ checkin, list }, 1, { search: "ann", order: "abc01" });
    for (const changes of [{ search: "bob" }, { order: "zz9" }]) {
      await expect(askOne({ checkin, list }, 1, changes)).rejects.toMatchObject({ code: "position_not_found" });
    }
  });
});
