import { sql } from "@tessera/kit/pg/sql";
import { PositionChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import type { RedeemOnListsRequest } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { Scans } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import { checkinDatabase } from "../../testing/database.ts";
import {
  eventFact,
  itemFact,
  mediumFact,
  minute,
  noon,
  order,
  place,
  positionFact,
  revokedSecretFact,
} from "../../testing/facts.ts";
import { inWord, listFields, scan, startCheckin } from "../../testing/start-checkin.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
const scans = checkin.connect(Scans);

const events = ["first", "second", "third"] as const;
type Event = (typeof events)[number];
const { organizer } = place;
let lists: Record<Event, number>;

const createList = async (event: string, fields: Parameters<typeof listFields>[0] = {}) => {
  const { list } = await checkin.lists.createCheckinList({ organizer, event, fields: listFields(fields) });
  return list?.id ?? 0;
};

const sell = (event: Event, ...sold: Parameters<typeof positionFact>[]) =>
  checkin.deliver(
    topics.positionChanged,
    sold.map((each) => ({ ...positionFact(...each), event })),
  );

beforeEach(async () => {
  await checkin.reset();
  for (const event of events) {
    await checkin.deliver(topics.eventChanged, [{ ...eventFact(), event }]);
    await checkin.deliver(topics.itemChanged, [
      { ...itemFact(10), event },
      { ...itemFact(11), event },
    ]);
  }
  lists = { first: await createList("first"), second: await createList("second"), third: await createList("third") };
});

const all = () => Object.values(lists);

async function redeem(
  code: string,
  {
    on = all(),
    among,
    ...changes
  }: Partial<Parameters<typeof scan>[2]> & Partial<RedeemOnListsRequest> & { on?: number[] } = {},
) {
  const sent = { ...scan(0, code, changes), event: "" };
  const { outcome } = await scans.redeemOnLists({ scan: sent, lists: on, among }, { timeoutMs: 20_000 });
  if (outcome === undefined) throw new Error("no outcome came back");
  return outcome;
}

const told = async (...sent: Parameters<typeof redeem>) => {
  const outcome = await redeem(...sent);
  return [inWord(outcome), outcome.list?.event, outcome.position?.position?.id];
};

const stored = () =>
  db.many<{ event: string; list: number; position: number | null; reason: string | null }>(
    sql`select scan.event, scan.list, scan.position, scan.reason from scan order by scan.id`,
  );

describe("[E6.2] a scan on several lists", () => {
  it("is decided and stored on the list of the event whose ticket it is", async () => {
    await sell("first", [1]);
    await sell("second", [2]);
    expect(await told("secret2")).toEqual(["admitted", "second", 2]);
    expect(await told("secret2")).toEqual(["already_redeemed", "second", 2]);
    expect(await told("secret1")).toEqual(["admitted", "first", 1]);
    expect(await stored()).toEqual([
      { event: "second", list: lists.second, position: 2, reason: null },
      { event: "second", list: lists.second, position: 2, reason: "already_redeemed" },
      { event: "first", list: lists.first, position: 1, reason: null },
    ]);
  });

  it("shares its presence with scans on the list itself", async () => {
    await sell("second", [2]);
    const own = { ...scan(lists.second, "secret2"), event: "second" };
    const [one, other] = await Promise.all([checkin.redeem(own), redeem("secret2")]);
    expect([inWord(one), inWord(other)].sort()).toEqual(["admitted", "already_redeemed"]);
  });

  it("answers an unknown code on the first list, and stores it there once", async () => {
    await sell("third", [3]);
    expect(await told("nothing", { on: [lists.second, lists.first] })).toEqual(["unknownTicket", "second", undefined]);
    expect(await told("secret3", { on: [lists.second, lists.first] })).toEqual(["unknownTicket", "second", undefined]);
    expect((await stored()).map(({ event, reason }) => [event, reason])).toEqual([
      ["second", "invalid"],
      ["second", "invalid"],
    ]);
  });

  it("finds media and revoked codes of each event, media first", async () => {
    await sell("second", [2]);
    await sell("third", [3]);
    const linkedPositions = [{ event: "third", id: 3 }];
    await checkin.deliver(topics.reusableMediumChanged, [
      mediumFact(1, { type: "barcode", identifier: "BAND", linkedPositions }),
    ]);
    await checkin.deliver(topics.revokedSecretChanged, [
      { ...revokedSecretFact(1, { secret: "GONE", position: 2 }), event: "second" },
      { ...revokedSecretFact(2, { secret: "BAND", position: 2 }), event: "second" },
    ]);
    expect(await told("BAND")).toEqual(["admitted", "third", 3]);
    expect(await told("GONE")).toEqual(["revoked", "second", 2]);
    expect(await told("GONE", { force: true })).toEqual(["admitted", "second", 2]);
  });

  it("finds a ticket that was sold a moment ago in any of the events", async () => {
    checkin.sold = async () => [PositionChanged.encode({ ...positionFact(7), event: "third" }).finish()];
    expect(await told("secret7")).toEqual(["admitted", "third", 7]);
  });

  it("[C3.16] finds all tickets that were sold a moment ago, however many come at once", async () => {
    const many = Array.from({ length: 32 }, (_, index) => `event-${index}`);
    await checkin.deliver(
      topics.eventChanged,
      many.map((event) => ({ ...eventFact(), event })),
    );
    const on = await Promise.all(many.map((event) => createList(event)));
    const sold = Array.from({ length: 40 }, (_, index) => ({
      ...positionFact(index + 1),
      event: `event-${index % 32}`,
    }));
    checkin.sold = async (wanted) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return sold
        .filter(({ event, position }) =>
          wanted.some((each) => each.event === event && each.secret === position?.secret),
        )
        .map((fact) => PositionChanged.encode(fact).finish());
    };
    const answers = await Promise.all(sold.map(({ position }) => told(position?.secret ?? "", { on })));
    expect(answers).toEqual(sold.map(({ event, position }) => ["admitted", event, position?.id]));
  });
});

describe("[E6.3] a code of tickets in several events", () => {
  it("means the one whose product is on its list, then the one that is valid", async () => {
    const limited = await createList("first", { allProducts: false, limitProducts: [11] });
    await sell("first", [1, { secret: "same" }]);
    await sell("second", [2, { secret: "same" }]);
    expect(await told("same", { on: [limited, lists.second] })).toEqual(["admitted", "second", 2]);
    await sell("third", [3, { secret: "same", validUntil: noon - minute }]);
    expect(await told("same", { on: [lists.third, lists.first] })).toEqual(["admitted", "first", 1]);
  });

  it("is ambiguous otherwise, and refused with force, too", async () => {
    await sell("first", [1, { secret: "same" }]);
    await sell("second", [2, { secret: "same" }]);
    expect(await told("same")).toEqual(["ambiguous", "first", 1]);
    expect(await told("same", { force: true })).toEqual(["ambiguous", "first", 1]);
    expect((await stored()).map(({ reason }) => reason)).toEqual(["ambiguous", "ambiguous"]);
  });
});

describe("[E6.4] a nonce", () => {
  it("admits once across the routes, whatever has changed since", async () => {
    await sell("second", [2]);
    expect(await told("secret2", { nonce: "once" })).toEqual(["admitted", "second", 2]);
    const upload = { ...scan(lists.second, "secret2", { nonce: "once", force: true, at: noon }), event: "second" };
    expect(inWord(await checkin.redeem(upload))).toBe("admitted");
    await sell("first", [1, { secret: "secret2" }]);
    expect(await told("secret2", { nonce: "once" })).toEqual(["admitted", "second", 2]);
    expect(await stored()).toHaveLength(1);
  });

  it("admits once where one scan comes fifty times at once", async () => {
    await sell("second", [2]);
    const words = await Promise.all(Array.from({ length: 50 }, () => told("secret2", { nonce: "same" })));
    expect(new Set(words.map(([word]) => word))).toEqual(new Set(["admitted"]));
    expect(await stored()).toHaveLength(1);
  });
});

describe("[E6.5] lists", () => {
  const refusal = (on: number[], among?: string[]) =>
    redeem("secret1", { on, among: among && { slugs: among } }).then(
      () => undefined,
      ({ code, fields }: { code: string; fields: unknown }) => ({ code, fields }),
    );

  it("that are unknown, deleted, of another organizer or of no event of the caller are named", async () => {
    await sell("first", [1]);
    const foreign = { organizer: "elsewhere", event: "first" };
    await checkin.deliver(topics.eventChanged, [{ ...eventFact(), ...foreign }]);
    const { list } = await checkin.lists.createCheckinList({ ...foreign, fields: listFields() });
    expect(await refusal([lists.first, 987])).toMatchObject({ code: "unknown_lists", fields: { lists: [/987/] } });
    expect(await refusal([list?.id ?? 0])).toMatchObject({ code: "unknown_lists" });
    expect(await refusal([lists.first, lists.second], ["second"])).toMatchObject({ code: "unknown_lists" });
    expect(await stored()).toEqual([]);
    expect(await told("secret1")).toEqual(["admitted", "first", 1]);
    await checkin.lists.deleteCheckinList({ organizer, event: "first", id: lists.first });
    expect(await told("secret1")).toEqual(["unknownTicket", "second", undefined]);
    expect(await refusal([lists.first])).toMatchObject({ code: "unknown_lists" });
  });

  it("of one event are refused, and so is an id that several events of the caller have", async () => {
    const another = await createList("first");
    expect(await refusal([lists.first, another])).toMatchObject({ code: "invalid_lists" });
    await db.run(sql`update list set id = 5 where list.event in ('first', 'second')
                        and list.id in (${lists.first}, ${lists.second})`);
    await sell("second", [1]);
    expect(await refusal([5])).toMatchObject({ code: "invalid_lists" });
    expect(await checkin.lists.findSharedIds({ organizer })).toEqual({ lists: [5] });
    expect(await checkin.lists.findSharedIds({ organizer, among: { slugs: ["second", "third"] } })).toEqual({
      lists: [],
    });
    expect(await refusal([5], ["second", "third"])).toBeUndefined();
    expect(await stored()).toMatchObject([{ event: "second", list: 5 }]);
  });

  it("of a removed event are not there", async () => {
    await db.run(sql`update list set id = 6 where list.event in ('first', 'second')
                        and list.id in (${lists.first}, ${lists.second})`);
    await sell("second", [1]);
    await checkin.deliver(topics.eventChanged, [`${organizer}/first`]);
    expect(await checkin.lists.findSharedIds({ organizer })).toEqual({ lists: [] });
    expect(await refusal([6])).toBeUndefined();
    expect(await refusal([lists.first])).toMatchObject({ code: "unknown_lists" });
  });

  it("that were just created are known at once", async () => {
    await sell("first", [1]);
    expect(await refusal([987_654])).toMatchObject({ code: "unknown_lists" });
    await db.run(sql`update list set id = 987654 where list.id = ${lists.first}`);
    expect(await told("secret1", { on: [987_654] })).toEqual(["admitted", "first", 1]);
  });
});

describe("[E8.5] a ticket that is exchanged for a medium", () => {
  const exchangeMedium = { type: "nfc_uid", identifier: "04AB" };
  const exchanged = (event: Event, item: number) =>
    checkin.deliver(topics.itemChanged, [
      { ...itemFact(item, { mediaPolicy: "new", mediaType: "nfc_uid", revision: 2 }), event },
    ]);

  it("is linked in its event, and admitted on the list of that event, once for its nonce", async () => {
    await exchanged("second", 10);
    await sell("second", [2]);
    const send = () => told("secret2", { exchangeMedium, nonce: "once" });
    expect(await told("secret2")).toEqual(["exchange", "second", 2]);
    expect([await send(), await send()]).toEqual([1, 2].map(() => ["admitted", "second", 2]));
    const own = { ...scan(lists.second, "secret2", { exchangeMedium, nonce: "once" }), event: "second" };
    expect(inWord(await checkin.redeem(own))).toBe("admitted");
    expect(checkin.toLink).toEqual([{ organizer, event: "second", position: 2, ...exchangeMedium, policy: "new" }]);
    expect(await stored()).toEqual([{ event: "second", list: lists.second, position: 2, reason: null }]);
  });

  it("is the one whose list decides, where tickets of several events have its code", async () => {
    for (const event of ["first", "second"] as const) await exchanged(event, 10);
    await sell("first", [1, { secret: "same" }]);
    await sell("second", [2, { secret: "same" }]);
    expect(await told("same", { exchangeMedium })).toEqual(["ambiguous", "first", 1]);
    expect(checkin.toLink).toEqual([]);
    const limited = await createList("first", { allProducts: false, limitProducts: [11] });
    const on = [limited, lists.second];
    expect(await told("same", { exchangeMedium, on })).toEqual(["admitted", "second", 2]);
    expect(checkin.toLink).toMatchObject([{ event: "second", position: 2 }]);
  });
});

it("[E6.6] explanations are in the language of the order where the scanner asks for that", async () => {
  const german = { order: order({ locale: "de" }), validFrom: noon + minute };
  await sell("first", [1, german]);
  const explained = async (asked: { readonly useOrderLocale: boolean }) => {
    const { outcome } = await redeem("secret1", asked);
    return outcome?.$case === "refused" ? outcome.value.explanation : undefined;
  };
  const [english, own] = [await explained({ useOrderLocale: false }), await explained({ useOrderLocale: true })];
  expect(english).toContain("2026-11-21 13:01");
  expect(own).toContain("21.11.2026");
  const upload = { ...scan(lists.first, "secret1", { useOrderLocale: true }), event: "first" };
  expect(await checkin.redeem(upload)).toMatchObject({ outcome: { value: { explanation: own } } });
});
