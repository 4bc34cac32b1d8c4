import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { askIds, askIdsInOrder, askPage, filters } from "../../testing/ask-positions.ts";
import { checkinDatabase } from "../../testing/database.ts";
import { eventFact, itemFact, mediumFact, order, positionFact } from "../../testing/facts.ts";
import { startCheckin } from "../../testing/start-checkin.ts";

let list: number;

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
beforeAll(async () => {
  await checkin.deliver(topics.eventChanged, [eventFact(), eventFact({ event: "other" })]);
  await checkin.deliver(topics.itemChanged, [itemFact(10), itemFact(11)]);
  list = (await checkin.createList()).id;
});
beforeEach(async () => {
  await checkin.db.run(sql`delete from position`);
  await checkin.db.run(sql`delete from count_delta`);
  await checkin.db.run(sql`delete from reusable_medium`);
});

const found = (search: string, changes = {}) => askIdsInOrder({ checkin, list }, { search, ...changes });

describe("[C2.8] a search", () => {
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
      positionFact(6, { attendeeName: "Jean\u2011Luc\u202fO\u2019Neill", secret: "yyy6" }),
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
    ["two fields at once: nothing", "groß\njg", []],
    ["two words that do not stand together: nothing", "jürgen jg", []],
    ["two letters: beginnings of words", "gr", [1, 2]],
    ["two letters: not within words", "ro", []],
    ["two letters: beginnings of codes", "AB", [1, 2, 3, 5, 6]],
    ["one letter", "x", [4]],
    ["one letter of a name", "θ", [5]],
    ["a dash, a blank and an apostrophe as they are typed", "jean-luc o'n", [6]],
    ["other dashes, blanks and apostrophes", "JEAN\u2013LUC\u00a0O\u02bcN", [6]],
    ["no dash for a blank", "jean luc", []],
    ["nothing", "", [1, 2, 3, 4, 5, 6]],
    ["a quote", "' or 1=1 --", []],
    ["a backslash", "\\", []],
  ])("finds %s", async (_name, search, expected) => {
    expect(await found(search)).toEqual(expected);
  });

  it("[C2.7] by a client that may only search needs three characters", async () => {
    expect(await askIds({ checkin, list }, { searchOnly: true })).toEqual([]);
    expect(await found("gr", { searchOnly: true })).toEqual([]);
    expect(await found("gro", { searchOnly: true })).toEqual([1, 2]);
    await expect(askPage({ checkin, list }, { searchOnly: true, page: 2 })).rejects.toMatchObject({
      code: "page_not_found",
    });
  });

  it("goes with every filter", async () => {
    expect(await found("gross", { order: "xyz99" })).toEqual([]);
    expect(await found("zzz", { order: "xyz99" })).toEqual([4]);
  });
});

describe("[C2.9] a search reads letters as people do", () => {
  it.each([
    ["combining marks", "Jose\u0301 Nun\u0303ez", "josé nuñez"],
    ["composed letters typed as marks", "José", "jose\u0301"],
    ["several marks in another order", "e\u0323\u0302xx", "ệxx"],
    ["a sharp s as two", "Weiß", "WEISS"],
    ["a capital sharp s", "WEIẞ", "weiß"],
    ["a dotted capital i", "İpek", "ipek"],
    ["a dotless i", "Irmak", "ırmak"],
    ["a sigma at the end as in the middle", "Οδυσσεύς", "ΟΔΥΣΣΕΎΣ"],
    ["full-width forms", "ＡＢＣ太郎", "abc太郎"],
    ["half-width forms", "ｶﾞﾙｼｱ", "ガルシア"],
    ["ligatures", "Steﬀi", "steffi"],
    ["Hebrew", "שלום לוי", "לום ל"],
    ["Arabic with marks that only direct", "\u200fمحمد\u200f علي", "محمد علي"],
    ["Cyrillic", "Ёлкина", "ёлк"],
    ["emoji with joiners", "👩‍🎤 Band", "👩‍🎤 b"],
    ["hard blanks", "Ann\u00a0Lee", "ann lee"],
  ])("%s", async (_name, name, search) => {
    await checkin.deliver(topics.positionChanged, [
      positionFact(1, { attendeeName: name }),
      positionFact(2, { attendeeName: "Somebody Else" }),
    ]);
    expect(await found(search)).toEqual([1]);
  });

  it("and does not take different letters for the same", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1, { attendeeName: "Müller" })]);
    expect(await found("Muller")).toEqual([]);
  });
});

describe("[C2.28] in scripts without blanks a search of one or two letters", () => {
  it.each([
    ["a given name", "王小明", "小明"],
    ["one letter of a given name", "王小明", "明"],
    ["a family name", "王小明", "王"],
    ["the middle of a longer name", "たなかさくら", "かさ"],
    ["a Korean given name", "김철수", "철수"],
    ["a Thai given name", "นายสมชาย", "สม"],
    ["a name behind Latin letters", "Lee小明", "小明"],
  ])("finds %s", async (_name, name, search) => {
    await checkin.deliver(topics.positionChanged, [
      positionFact(1, { attendeeName: name }),
      positionFact(2, { attendeeName: "Somebody Else" }),
    ]);
    expect(await found(search)).toEqual([1]);
    expect(await found("", { filters: filters({ attendeeName: name }) })).toEqual([1]);
  });
});

describe("[C2.10] a medium", () => {
  beforeEach(async () => {
    await checkin.deliver(topics.positionChanged, [
      positionFact(1),
      positionFact(2),
      { ...positionFact(3), event: "other" },
    ]);
    await checkin.deliver(topics.reusableMediumChanged, [
      mediumFact(7, {
        identifier: "Band-7",
        linkedPositions: [
          { event: "sampleconf", id: 1 },
          { event: "sampleconf", id: 2 },
          { event: "other", id: 3 },
          { event: "sampleconf", id: 4711 },
        ],
      }),
      { ...mediumFact(8, { identifier: "Band-8", active: false }), linkedPositions: [{ event: "sampleconf", id: 2 }] },
      { ...mediumFact(9, { identifier: "Band-9" }), organizer: "others" },
    ]);
  });

  it.each([
    ["finds the tickets of this event that it stands for", "Band-7", [1, 2]],
    ["that is switched off still tells whose it is", "Band-8", [2]],
    ["is written to the letter", "band-7", []],
    ["is not found by its beginning", "Band", []],
    ["of another organizer is none", "Band-9", []],
  ])("%s", async (_name, search, expected) => {
    expect(await found(search)).toEqual(expected);
  });
});

describe("[C2.11] the ticket with exactly the searched code", () => {
  beforeEach(() =>
    checkin.deliver(topics.positionChanged, [
      positionFact(1, { attendeeName: "Aaron", secret: "code1234" }),
      positionFact(2, { attendeeName: "Berta code", secret: "CODE" }),
      positionFact(3, { attendeeName: "Zoe", secret: "code" }),
      positionFact(4, { attendeeName: undefined, secret: "code12" }),
    ]),
  );

  it("comes first", async () => {
    expect(await askIds({ checkin, list }, { search: "code" })).toEqual([3, 1, 2, 4]);
    expect(await askIds({ checkin, list }, { search: "CODE" })).toEqual([2, 1, 3, 4]);
    expect(await askIds({ checkin, list }, { search: "code12" })).toEqual([4, 1]);
  });

  it("comes where it belongs when an order was asked for", async () => {
    expect(await askIds({ checkin, list }, { search: "code", ordering: ["attendee_name"] })).toEqual([4, 1, 2, 3]);
  });

  it("is among those that a search of two letters finds", async () => {
    const many = Array.from({ length: 600 }, (_, index) =>
      positionFact(100 + index, { secret: `c${String(index).padStart(3, "0")}` }),
    );
    await checkin.deliver(topics.positionChanged, [...many, positionFact(99, { attendeeName: "Zz", secret: "c" })]);
    const { positions } = await askPage({ checkin, list }, { search: "c" });
    expect(positions[0]?.position?.id).toBe(99);
  });
});

describe("a search in an event where many are called alike", () => {
  const many = (first: number, changes: Parameters<typeof positionFact>[1]) =>
    Array.from({ length: 510 }, (_, index) => positionFact(first + index, changes));

  it("finds all tickets that the list has and the filters leave, however many others there are", async () => {
    await checkin.deliver(topics.positionChanged, [
      ...many(1000, { attendeeName: "Zoran", secret: "zo", item: 10, order: order({ code: "ZORAN" }) }),
      ...many(2000, { attendeeName: undefined, addonTo: 1000, secret: "y", item: 10 }),
      positionFact(5001, { attendeeName: "Zoe", secret: "x1", item: 11 }),
      positionFact(5002, { attendeeName: "Jo", secret: "Zo2", item: 11 }),
      positionFact(5003, { attendeeName: "Jo", secret: "x3", item: 11, order: order({ code: "ZOE99" }) }),
      positionFact(5004, { attendeeName: undefined, secret: "x4", item: 11, addonTo: 1000 }),
      positionFact(5005, { attendeeName: "Zoe", secret: "x5", item: 11, canceled: true }),
    ]);
    const few = (await checkin.createList({ allProducts: false, limitProducts: [11] })).id;
    expect(await askIdsInOrder({ checkin, list: few }, { search: "zo" })).toEqual([5001, 5002, 5003, 5004]);
    const filtered = { search: "zo", filters: filters({ items: [{ ids: [11], parameter: "item" }] }) };
    expect(await askIdsInOrder({ checkin, list }, filtered)).toEqual([5001, 5002, 5003, 5004]);
  });

  it.each(["zo", "zora"])("finds the same 500 of them on every page by %s, and counts these", async (search) => {
    await checkin.deliver(topics.positionChanged, many(1000, { attendeeName: "Zoran" }));
    const seen = new Set<number | undefined>();
    for (const ordering of [["positionid"], ["-last_checked_in"]]) {
      for (let page = 1; page <= 10; page += 1) {
        const shown = await askPage({ checkin, list }, { search, page, ordering });
        expect([shown.count, shown.positions.length]).toEqual([500, 50]);
        for (const { position } of shown.positions) seen.add(position?.id);
      }
    }
    expect(seen.size).toBe(500);
  });
});

describe("a text with a character that none has", () => {
  it.each([
    ["a search", { search: "a\0" }],
    ["an order", { order: "ABC01\0" }],
    ["a name", { filters: filters({ attendeeName: "Ada\0" }) }],
    ["a secret", { filters: filters({ secret: "secret1\0" }) }],
    ["a pseudonym", { filters: filters({ pseudonymizationId: "\0" }) }],
  ])("finds nothing as %s", async (_name, asked) => {
    await checkin.deliver(topics.positionChanged, [positionFact(1)]);
    expect(await askIds({ checkin, list }, asked)).toEqual([]);
  });
});

describe("what new tickets bring to the search", () => {
  it("waits beside the index until the job has put it there, and is found before and after", async () => {
    await checkin.runJob("merge-search-index");
    await checkin.deliver(topics.positionChanged, [positionFact(1, { attendeeName: "Grace Hopper" })]);
    expect(await found("hopper")).toEqual([1]);
    await checkin.runJob("merge-search-index");
    expect(await found("hopper")).toEqual([1]);
    const { waiting } = await checkin.db.one<{ waiting: number }>(
      sql`select gin_clean_pending_list('position_by_search_text') as waiting`,
    );
    expect(waiting).toBe(0);
  });
});
