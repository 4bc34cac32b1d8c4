import type { Db } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import { sql } from "@tessera/kit/pg/sql";
import { type ListOrdersRequest, OrderDocument } from "@tessera/protos/gen/ticketing/boxoffice/v1/orders";
import { beforeEach, describe, expect, it } from "vitest";
import { locksOf, takeLocks } from "../store/locks.ts";
import { emptyOffice } from "../testing/empty-office.ts";
import { answersFact, deliverAnswers, given } from "../testing/given-at-gate.ts";
import { position, record, sample } from "../testing/records.ts";
import { getOrderPosition, listOrderPositions } from "./order-positions.ts";
import { getOrder, listOrders } from "./orders.ts";
import { findPrints, recordPrint } from "./prints.ts";

const office = emptyOffice();
const reads = { inTurn: (_party: string, read: (db: Db) => unknown) => read(office.db) } as unknown as Reads;
const parse = (json: Uint8Array) => JSON.parse(String(json)) as Record<string, unknown> & { readonly code: string };

const list = async (asked: Partial<ListOrdersRequest> = {}) => {
  const usual = { organizer: "org", event: "fest", page: 1, pageSize: 50, ordering: [], orOfPositions: [] };
  const { orders, ...rest } = await listOrders({ ...usual, canceled: undefined, ...asked }, { reads });
  return { ...rest, orders, codes: orders.map(({ json }) => parse(json).code) };
};
const codesOf = async (asked: Partial<ListOrdersRequest> = {}) => (await list(asked)).codes;

/** Follows all pages. */
async function walk(asked: Partial<ListOrdersRequest>, between: (page: number) => Promise<unknown> = async () => {}) {
  const codes: string[] = [];
  const watermarks = new Set<number>();
  const counts = new Set<number>();
  let cursor: string | undefined;
  for (let page = 1; ; page += 1) {
    const found = await list({ ...asked, page, cursor });
    codes.push(...found.codes);
    watermarks.add(found.asOf);
    counts.add(found.count);
    cursor = found.next?.cursor;
    if (cursor === undefined) return { codes, watermarks, counts };
    await between(page);
  }
}

/** An order of one ticket. */
const order = (id: number, rest: Record<string, unknown> = {}, ticket: Record<string, unknown> = {}) =>
  sample.order({
    code: `ORDER${id}`,
    datetime: `2026-01-0${id}T10:00:00Z`,
    positions: [position({ id, secret: `secret-${id}`, ...ticket })],
    ...rest,
  });
const micros = (text: string) => Date.parse(text) * 1000;

beforeEach(async () => {
  await office.apply(sample.organizer(), sample.event(), { ...sample.event({ slug: "other" }), event: "other" });
  await office.apply(sample.item(), sample.question({ id: 1, options: [] }), sample.seat({ id: 5 }));
});

describe("orders", () => {
  it("[E4.1] are of their event alone, the newest first, or in the order that is asked for", async () => {
    await office.apply(order(2), order(1, { status: "n" }), order(3));
    await office.apply({ ...sample.item(), event: "other" });
    await office.apply({ ...order(4), event: "other" });
    expect(await codesOf()).toEqual(["ORDER3", "ORDER2", "ORDER1"]);
    expect(await codesOf({ ordering: ["datetime"] })).toEqual(["ORDER1", "ORDER2", "ORDER3"]);
    expect(await codesOf({ ordering: ["nonsense", "-code"] })).toEqual(["ORDER3", "ORDER2", "ORDER1"]);
    expect(await codesOf({ ordering: ["-status", "datetime"] })).toEqual(["ORDER2", "ORDER3", "ORDER1"]);
    await office.apply(order(1, { status: "c" }));
    expect(await codesOf({ ordering: ["-last_modified"] })).toEqual(["ORDER1", "ORDER3", "ORDER2"]);
    expect(await codesOf({ organizer: "stranger" })).toEqual([]);
    expect(await codesOf({ event: "none" })).toEqual([]);
    expect(await list({ event: "other" })).toMatchObject({ count: 1, codes: ["ORDER4"] });
    await expect(
      getOrder({ organizer: "org", event: "other", code: "ORDER1", canceled: undefined }, { reads }),
    ).rejects.toMatchObject({ kind: "not_found" });
  });

  it("[E4.1] placed within one second keep their order", async () => {
    await office.apply(
      order(1, { datetime: "2026-01-01T10:00:00.2Z" }),
      order(2, { datetime: "2026-01-01T10:00:00Z" }),
      order(3, { datetime: "2026-01-01T11:00:00.15+01:00" }),
    );
    expect(await codesOf({ ordering: ["datetime"] })).toEqual(["ORDER2", "ORDER3", "ORDER1"]);
    expect(await codesOf({ ordering: ["datetime"], placedSince: micros("2026-01-01T10:00:00.150Z") })).toEqual([
      "ORDER3",
      "ORDER1",
    ]);
    expect(await codesOf({ placedSince: micros("2026-01-01T10:00:00Z") })).toHaveLength(3);
  });

  it("[E4.2] are found by what scanners ask for", async () => {
    await office.apply(order(1, { testmode: true }), order(2, { status: "n" }), order(3, { status: "c" }));
    expect(await codesOf({ testmode: false })).toEqual(["ORDER3", "ORDER2"]);
    expect(await codesOf({ testmode: true })).toEqual(["ORDER1"]);
    expect(await codesOf({ statuses: { letters: ["n", "p"] } })).toEqual(["ORDER2", "ORDER1"]);
    expect(await codesOf({ statuses: { letters: [] } })).toEqual([]);
    expect(await codesOf({ code: "order2" })).toEqual(["ORDER2"]);
    expect(await codesOf({ code: "ORDER" })).toEqual([]);
  });

  it("[E4.2] of dates are those with a ticket for a date that begins then or later, also where the clock is set back", async () => {
    const series = { has_subevents: true, date_from: "2026-10-24T18:00:00Z" };
    const inSeries = <T extends object>(test: T) => ({ ...test, event: "series" });
    await office.apply(inSeries(sample.event({ slug: "series", ...series })));
    await office.apply(
      inSeries(sample.item()),
      // The same time of the clock in Berlin, an hour apart.
      inSeries(sample.subevent({ id: 1, date_from: "2026-10-25T02:30:00+02:00" })),
      inSeries(sample.subevent({ id: 2, date_from: "2026-10-25T02:30:00+01:00" })),
    );
    await office.apply(
      inSeries(order(1, {}, { subevent: 1 })),
      inSeries(order(2, {}, { subevent: 2 })),
      inSeries(order(3, {}, { subevent: 2, canceled: true })),
    );
    const after = (text: string) => codesOf({ event: "series", beginsSince: micros(text) });
    expect(await after("2026-10-25T00:30:00Z")).toEqual(["ORDER2", "ORDER1"]);
    expect(await after("2026-10-25T00:30:01Z")).toEqual(["ORDER2"]);
    expect(await after("2026-10-25T01:30:01Z")).toEqual([]);
  });

  it("[E4.3] are whole, with the answers of gates, seats, what may be downloaded, and what was printed", async () => {
    await office.apply(
      sample.order({
        fees: [{ fee_type: "service", value: "1.00", canceled: true }],
        positions: [
          position({ seat: "stalls-1-1", attendee_name_parts: { given_name: "Zoë", family_name: "Ünal" } }),
          position({ id: 2, positionid: 2, secret: "2", canceled: true }),
        ],
      }),
    );
    await deliverAnswers(office.db, answersFact([given(1, 1, "yes")]));
    const place = { organizer: "org", event: "fest" };
    const print = {
      ...{ id: 0, successful: true, at: 1_700_000_000_000_000, source: "app", type: "badge", deviceId: 3 },
      info: Buffer.from('{"printer":"Zebra"}'),
    };
    await recordPrint({ ...place, position: 1, print }, { db: office.db });
    const { order: shown } = await getOrder({ ...place, code: "abcde", canceled: undefined }, { reads });
    expect(parse(shown?.json ?? Buffer.alloc(0))).toMatchObject({
      ...{ code: "ABCDE", status: "p", email: null, invoice_address: null, checkin_text: null, fees: [] },
      positions: [{ id: 1, tax_code: null, discount: null, valid_from: null, blocked: null }],
    });
    expect(shown?.positions).toMatchObject([
      {
        position: {
          attendeeName: "Zoë Ünal",
          answers: [{ question: 1, answer: "yes" }],
          seat: { id: 5, seatGuid: "stalls-1-1" },
        },
        downloads: ["pdf"],
        prints: [{ source: "app", type: "badge", deviceId: 3, info: Buffer.from('{"printer":"Zebra"}') }],
      },
    ]);
    const all = { positions: true, fees: true };
    const { order: whole } = await getOrder({ ...place, code: "ABCDE", canceled: all }, { reads });
    expect(parse(whole?.json ?? Buffer.alloc(0))).toMatchObject({
      fees: [{ canceled: true }],
      positions: [{ id: 1 }, { id: 2, canceled: true }],
    });
    expect(whole?.positions[1]?.downloads).toEqual([]);
  });

  it("[E4.3] with a removed event are gone at once", async () => {
    await office.apply(order(1));
    await office.apply({ ...record("event", { slug: "fest" }, { deleted: true }), event: "fest" });
    expect(await list()).toMatchObject({ count: 0, codes: [] });
    await expect(
      getOrder({ organizer: "org", event: "fest", code: "ORDER1", canceled: undefined }, { reads }),
    ).rejects.toMatchObject({ kind: "not_found" });
  });
});

describe("pages of orders", () => {
  const orderings = ["datetime", "-datetime", "last_modified", "-last_modified", "code", "-code", "status", "-status"];

  it.each([...orderings, "status,-datetime"])("[E4.4] are walked through without a gap: %s", async (ordering) => {
    const at = (id: number) => ({ datetime: `2026-01-0${1 + (id % 3)}T10:00:00Z`, status: id % 2 ? "p" : "n" });
    await office.apply(...Array.from({ length: 9 }, (_, index) => order(index + 1, at(index))));
    const asked = { ordering: ordering.split(",") };
    const all = await codesOf(asked);
    expect(all).toHaveLength(9);
    expect((await walk({ ...asked, pageSize: 2 })).codes).toEqual(all);
    const byNumber = await Promise.all([1, 2, 3, 4, 5].map((page) => codesOf({ ...asked, pageSize: 2, page })));
    expect(byNumber.flat()).toEqual(all);
    expect(await codesOf({ ...asked, pageSize: 2, page: 0 })).toEqual(all.slice(8));
    await expect(list({ ...asked, pageSize: 2, page: 6 })).rejects.toMatchObject({ code: "page_not_found" });
  });

  it("[E4.4] miss no order where another is deleted meanwhile, and have the watermark and the count of the first", async () => {
    await office.apply(...[1, 2, 3, 4, 5, 6].map((id) => order(id)));
    const { codes, watermarks, counts } = await walk({ pageSize: 2, ordering: ["datetime"] }, async (page) => {
      if (page === 1) await office.apply(record("order", { code: "ORDER1" }, { deleted: true }));
      if (page === 2) await office.apply(order(1));
    });
    expect(codes).toEqual(["ORDER1", "ORDER2", "ORDER3", "ORDER4", "ORDER5", "ORDER6"]);
    expect([watermarks.size, [...counts]]).toEqual([1, [6]]);
    const [asOf] = watermarks;
    expect(await codesOf({ changedSince: asOf })).toEqual(["ORDER1"]);
  });

  it("[E4.4] ignore the cursor of another request, or none at all", async () => {
    await office.apply(...[1, 2, 3, 4].map((id) => order(id)));
    const { next } = await list({ pageSize: 2 });
    const [asOf, count, use] = next?.cursor?.split(".") ?? [];
    const places = ["[1]", '["x"]', '["a", null]', '["a\\u0000", "b"]', "{}", "["].map((text) => {
      return `${asOf}.${count}.${use}.${Buffer.from(text).toString("base64url")}`;
    });
    for (const cursor of places) expect(await codesOf({ pageSize: 2, page: 2, cursor })).toEqual(["ORDER2", "ORDER1"]);
    const changed = { changedSince: 0, ordering: ["last_modified"], pageSize: 2 };
    const [, , useOfChanged] = (await list(changed)).next?.cursor?.split(".") ?? [];
    for (const text of ['["2026-13-45 00:00:00+00", "A"]', '[1e300, "A"]', '[0.5, "A"]', '["x", "A"]']) {
      const cursor = `1.1.${useOfChanged}.${Buffer.from(text).toString("base64url")}`;
      expect(await codesOf({ ...changed, page: 2, cursor })).toEqual(["ORDER3", "ORDER4"]);
    }
    for (const cursor of [next?.cursor, "x", "1.1.aaaaaaaa.bbbb", `${next?.cursor}x`]) {
      expect(await codesOf({ pageSize: 2, page: 1, cursor })).toEqual(["ORDER4", "ORDER3"]);
      expect(await codesOf({ pageSize: 2, page: 2, cursor, ordering: ["datetime"] })).toEqual(["ORDER3", "ORDER4"]);
    }
  });

  it("[E4.4] of large orders are shorter", async () => {
    const comment = "x".repeat(900_000);
    await office.apply(...[1, 2, 3, 4, 5, 6, 7].map((id) => order(id, { comment })));
    const first = await list();
    expect(first.codes.length).toBeLessThan(6);
    expect((await walk({})).codes).toEqual([7, 6, 5, 4, 3, 2, 1].map((id) => `ORDER${id}`));
  });

  const firstSix = [1, 2, 3, 4, 5, 6];
  const ofThree = (id: number) => {
    const ids = [id, id + 10, id + 20];
    return order(id, { positions: ids.map((each) => position({ id: each, positionid: each, secret: `s${each}` })) });
  };
  const mebibytes = (orders: readonly OrderDocument[]) =>
    orders.reduce((sum, each) => sum + OrderDocument.encode(each).finish().length, 0) / 2 ** 20;

  it("[E4.4] are shorter also where answers of gates or prints make them large", async () => {
    await office.apply(...firstSix.map(ofThree));
    // Of answers all have 9 MB, and of prints, of which each shows half, three orders 8 MB.
    const ids = firstSix.flatMap((id) => [id, id + 10, id + 20]);
    const facts = ids.map((id) => answersFact([given(1, id, "x".repeat(500_000))], { position: id }));
    await deliverAnswers(office.db, ...facts);
    await office.db.run(sql`
      insert into print (organizer, event, position, successful, printed_at, source, type, info)
      select 'org', 'fest', made.position, true, now(), 'app', 'badge', jsonb_build_object('x', repeat('y', 64000))
        from unnest(array[1, 2, 3, 11, 12, 13]) as made (position)
       cross join generate_series(1, 40)`);
    const prints = new Map<number, number>();
    let codes: readonly string[] = [];
    for (let page = 1, cursor: string | undefined; page === 1 || cursor !== undefined; page += 1) {
      const found = await list({ page, cursor });
      expect(mebibytes(found.orders)).toBeLessThan(14);
      codes = [...codes, ...found.codes];
      for (const shown of found.orders.flatMap(({ positions }) => positions)) {
        expect(shown.position?.answers).toHaveLength(1);
        prints.set(shown.position?.id ?? 0, shown.prints.length);
      }
      cursor = found.next?.cursor;
    }
    expect(codes).toEqual(firstSix.toReversed().map((id) => `ORDER${id}`));
    expect(ids.map((id) => prints.get(id))).toEqual(ids.map((id) => ([1, 2, 3, 11, 12, 13].includes(id) ? 20 : 0)));
  });

  const answersOf = ({ orders }: Awaited<ReturnType<typeof list>>) =>
    orders.map(({ positions }) => positions.map(({ position: shown }) => shown?.answers.length));

  it("[E4.12] show an order with more answers than have room without those of its last tickets", async () => {
    const ids = Array.from({ length: 200 }, (_, index) => index + 1);
    const asked = Array.from({ length: 200 }, (_, index) => index + 1);
    const answers = [{ question: 1, answer: "x".repeat(60_000) }];
    await office.apply(sample.question({ id: 1, type: "T", options: [], items: asked }));
    const positions = ids.map((id) => position({ id, positionid: id, secret: `s${id}`, answers }));
    await office.apply(order(1, { positions }), order(2, {}, { id: 999, secret: "other" }));
    const whole = await list({ ordering: ["code"] });
    expect(answersOf(whole)).toEqual([ids.map(() => 1)]);
    const more = ids.map((id) => answersFact([given(1, id, "y".repeat(60_000))], { position: id }));
    await deliverAnswers(office.db, ...more);
    const cut = await list({ ordering: ["code"] });
    expect(mebibytes(cut.orders)).toBeLessThan(14);
    expect(answersOf(cut)).toEqual([ids.map((id) => (id <= 69 ? 1 : 0))]);
    expect(cut.orders[0]?.positions[68]?.position?.answers[0]?.answer).toMatch(/^y+$/);
    expect((await walk({ ordering: ["code"] })).codes).toEqual(["ORDER1", "ORDER2"]);
  });

  it("[E4.4] show an order with more prints than have room with some of them", async () => {
    const ids = Array.from({ length: 60 }, (_, index) => index + 1);
    await office.apply(
      order(1, { positions: ids.map((id) => position({ id, positionid: id, secret: `s${id}` })) }),
      order(2, {}, { id: 99, secret: "other" }),
    );
    await office.db.run(sql`
      insert into print (organizer, event, position, successful, printed_at, source, type, info)
      select 'org', 'fest', position.id, true, now(), 'app', 'badge', jsonb_build_object('x', repeat('y', 60000))
        from position
       cross join generate_series(1, 20)`);
    const { orders } = await list({ ordering: ["code"] });
    expect(mebibytes(orders)).toBeLessThan(14);
    expect(orders[0]?.positions[0]?.prints).toHaveLength(20);
    expect(orders[0]?.positions.at(-1)?.prints).toHaveLength(0);
    expect((await walk({ ordering: ["code"] })).codes).toEqual(["ORDER1", "ORDER2"]);
  });
});

describe("orders that have changed", () => {
  const changedSince = (asOf: number, orOfPositions: number[] = []) =>
    codesOf({ changedSince: asOf, orOfPositions, ordering: ["code"] });

  it("[E4.5] since an answer are told once", async () => {
    await office.apply(order(1), order(2));
    const { asOf } = await list();
    expect(await changedSince(asOf)).toEqual([]);
    await office.apply(order(1));
    expect(await changedSince(asOf)).toEqual([]);
    await office.apply(order(1, { status: "c" }));
    const next = await list({ changedSince: asOf });
    expect(next.codes).toEqual(["ORDER1"]);
    expect(await changedSince(next.asOf)).toEqual([]);
  });

  it("[E4.5] by an answer at a gate, another seat or another owner of a position are told", async () => {
    await office.apply(order(1, {}, { seat: "stalls-1-1" }), order(2), order(3));
    let { asOf } = await list();
    const told = async () => {
      const codes = await changedSince(asOf);
      asOf = (await list()).asOf;
      return codes;
    };
    await deliverAnswers(office.db, answersFact([given(1, 1, "yes")]));
    expect(await told()).toEqual(["ORDER1"]);
    await office.apply(sample.seat({ id: 5, name: "Royal box" }));
    expect(await told()).toEqual(["ORDER1"]);
    await office.apply(order(2, { positions: [] }), order(3, {}, { id: 2, secret: "secret-2" }));
    expect(await told()).toEqual(["ORDER2", "ORDER3"]);
  });

  it("[E4.5] or have one of the named positions are told, whenever they changed", async () => {
    await office.apply(order(1), order(2), order(3), order(4));
    await office.apply({ ...sample.item(), event: "other" }, { ...order(5), event: "other" });
    const { asOf } = await list();
    await office.apply(order(4, { status: "n" }));
    expect(await changedSince(asOf, [2, 4, 5, 99])).toEqual(["ORDER2", "ORDER4"]);
    const asked = { changedSince: asOf, orOfPositions: [1, 2], ordering: ["-last_modified"] };
    expect(await list(asked)).toMatchObject({ count: 3, codes: ["ORDER4", "ORDER2", "ORDER1"] });
    expect((await walk({ ...asked, pageSize: 1 })).codes).toEqual(["ORDER4", "ORDER2", "ORDER1"]);
    expect(await codesOf({ ...asked, statuses: { letters: ["p"] } })).toEqual(["ORDER2", "ORDER1"]);
  });

  it.each([["its own"], ["another"]])(
    "[E4.5] are not missed where they were being written while an answer was made, in a transaction that began before %s",
    async (whose) => {
      await office.apply(order(1), order(2));
      const began = Promise.withResolvers<void>();
      const goOn = Promise.withResolvers<void>();
      const written = Promise.withResolvers<void>();
      const commit = Promise.withResolvers<void>();
      const slow = office.db.transaction(async (tx) => {
        await tx.run(sql`select`);
        began.resolve();
        await goOn.promise;
        await takeLocks(tx, locksOf([{ organizer: "org", event: "fest" }]));
        await tx.run(sql`
          insert into "order" (organizer, event, code, status, data, revision)
          select organizer, event, 'LATE', status, data || '{"code": "LATE", "positions": []}', revision from "order" where code = 'ORDER1'`);
        written.resolve();
        await commit.promise;
      });
      await began.promise;
      if (whose === "another") await office.apply(order(2, { status: "n" }));
      const answers = [await list()];
      goOn.resolve();
      await written.promise;
      answers.push(await list(), await list());
      commit.resolve();
      await slow;
      for (const { asOf } of answers) expect(await changedSince(asOf)).toContain("LATE");
      expect(await changedSince((await list()).asOf)).toEqual([]);
    },
  );

  it("[E4.5] are known at once while another event changes", async () => {
    await office.apply(order(1));
    const before = (await list()).asOf;
    await office.db.transaction(async (tx) => {
      await takeLocks(tx, locksOf([{ organizer: "org", event: "other" }]));
      expect((await list()).asOf).toBeGreaterThan(before);
    });
  });
});

describe("positions", () => {
  const usual = { organizer: "org", event: "fest", page: 1, pageSize: 50, withCanceled: false };
  const idsOf = async (asked: object = {}) =>
    (await listOrderPositions({ ...usual, ...asked }, { reads })).positions.map(({ json }) => parse(json)["id"]);

  it("[E4.7] of all orders are listed by their ids, and found by order, secret, item and date", async () => {
    await office.apply(sample.item({ id: 2 }));
    await office.apply(
      order(3),
      order(1, {
        positions: [position({ id: 1, secret: "a/b" }), position({ id: 4, positionid: 2, secret: "4", item: 2 })],
      }),
      order(2, {}, { canceled: true }),
    );
    expect(await idsOf()).toEqual([1, 3, 4]);
    expect(await idsOf({ withCanceled: true })).toEqual([1, 2, 3, 4]);
    expect(await idsOf({ page: 2, pageSize: 2 })).toEqual([4]);
    expect(await idsOf({ order: "order1" })).toEqual([1, 4]);
    expect(await idsOf({ secret: "a/b" })).toEqual([1]);
    expect(await idsOf({ item: 2 })).toEqual([4]);
    expect(await idsOf({ event: "other" })).toEqual([]);
    await expect(idsOf({ item: 99, subevent: 7 })).rejects.toMatchObject({
      kind: "invalid",
      fields: { item: expect.anything(), subevent: expect.anything() },
    });
    const get = (id: number, asked: object = {}) =>
      getOrderPosition({ organizer: "org", event: "fest", id, withCanceled: false, ...asked }, { reads });
    expect((await get(4)).position?.position?.position).toMatchObject({ id: 4, order: { code: "ORDER1" } });
    expect((await get(2, { withCanceled: true })).position?.position?.position).toMatchObject({ id: 2 });
    for (const asked of [{}, { event: "other", withCanceled: true }, { organizer: "x", withCanceled: true }])
      await expect(get(2, asked)).rejects.toMatchObject({ kind: "not_found" });
  });

  it("[E4.8] of another event are not printed", async () => {
    await office.apply(order(1));
    const print = { id: 0, successful: true, source: "app", type: "ticket", info: Buffer.from("{}") };
    const of = (event: string, id: number) =>
      recordPrint({ organizer: "org", event, position: id, print }, { db: office.db });
    await expect(of("other", 1)).rejects.toMatchObject({ kind: "not_found" });
    await expect(of("fest", 2)).rejects.toMatchObject({ kind: "not_found" });
    expect(await of("fest", 1)).toMatchObject({ print: { deviceId: undefined, at: expect.any(Number) } });
    expect(await office.count("print")).toBe(1);
    await office.apply(record("order", { code: "ORDER1" }, { deleted: true }));
    expect(await office.count("print")).toBe(0);
  });

  it("[E4.8] keep their newest twenty prints", async () => {
    await office.apply(order(1), order(2));
    const print = (position: number, at: number) =>
      recordPrint(
        {
          ...{ organizer: "org", event: "fest", position },
          print: { id: 0, successful: true, at, source: "app", type: "badge", info: Buffer.from("{}") },
        },
        { db: office.db },
      );
    await print(2, 1);
    for (let at = 1; at <= 25; at += 1) await print(1, at);
    const { position: shown } = await getOrderPosition(
      { organizer: "org", event: "fest", id: 1, withCanceled: false },
      { reads },
    );
    expect(shown?.position?.prints.map(({ at }) => at)).toEqual(Array.from({ length: 20 }, (_, index) => index + 6));
    expect(await office.count("print")).toBe(21);
  });

  it("[E4.11] tell what was printed for some of them, and whether anything was in their event", async () => {
    await office.apply(order(1), order(2));
    const find = (positions: number[], event = "fest") => findPrints({ organizer: "org", event, positions }, { reads });
    expect(await find([1, 2])).toEqual({ positions: [], hasAny: false });
    const print = { id: 0, successful: true, source: "app", type: "badge", info: Buffer.from('{"a":1}') };
    await recordPrint({ organizer: "org", event: "fest", position: 1, print }, { db: office.db });
    expect(await find([1, 2])).toMatchObject({
      positions: [{ position: 1, prints: [{ source: "app", type: "badge", info: Buffer.from('{"a":1}') }] }],
      hasAny: true,
    });
    expect(await find([2])).toEqual({ positions: [], hasAny: true });
    expect(await find([1], "other")).toEqual({ positions: [], hasAny: false });
  });

  it("[E4.7] of large orders, or with large answers, come on shorter pages", async () => {
    const ids = Array.from({ length: 12 }, (_, index) => index + 1);
    const comment = "x".repeat(900_000);
    await office.apply(
      ...[0, 1, 2, 3, 4, 5].map((at) =>
        order(at + 1, {
          comment,
          positions: [at + 1, at + 7].map((id) => position({ id, positionid: id, secret: `s${id}` })),
        }),
      ),
    );
    await deliverAnswers(
      office.db,
      ...ids.map((id) => answersFact([given(1, id, "x".repeat(900_000))], { position: id })),
    );
    const pages: (readonly unknown[])[] = [];
    for (let page = 1, cursor: string | undefined; ; page += 1) {
      const found = await listOrderPositions({ ...usual, page, cursor }, { reads });
      pages.push(found.positions.map(({ json }) => parse(json)["id"]));
      expect(found).toMatchObject({ page, count: 12 });
      cursor = found.next?.cursor;
      if (cursor === undefined) break;
    }
    expect(pages.map(({ length }) => length)).toEqual([4, 4, 4]);
    expect(pages.flat()).toEqual(ids);
  });
});
