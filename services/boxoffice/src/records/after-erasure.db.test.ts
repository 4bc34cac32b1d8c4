import { randomUUID } from "node:crypto";
import { sql } from "@tessera/kit/pg/sql";
import { ErasureState } from "@tessera/protos/gen/platform/v1/personal_data";
import { topics } from "@tessera/protos/topics";
import { erase, findErased } from "@tessera/testkit/erase";
import { collect } from "@tessera/testkit/files-contract";
import { finishWork } from "@tessera/testkit/finish-work";
import { describe, expect, it } from "vitest";
import { ada, answers, bare, erasableOrders, everyKind, order, place } from "../testing/erasable-orders.ts";
import { takeFacts } from "../testing/facts.ts";
import { answersFact, given, readPosition } from "../testing/given-at-gate.ts";
import { position, sample } from "../testing/records.ts";

const orders = erasableOrders();
const { documentOf, take } = orders;

describe("what comes after an erasure", () => {
  it("[D4.8] is left out where a record brings it back, with each field", async () => {
    await erase(orders.service, place, { kinds: ["attendee_info", "phone_numbers", "question_answers"] });
    const errors = (await orders.apply(order()))[1] ?? {};
    expect(Object.keys(errors).toSorted()).toEqual(
      [
        ...["attendee_name", "attendee_name_parts", "company", "street", "zipcode", "city"].flatMap((field) => [
          `positions.0.${field}`,
          `positions.1.${field}`,
        ]),
        "phone",
        "positions.0.answers",
      ].toSorted(),
    );
    expect(errors["phone"]).toEqual([expect.stringContaining("erased (phone_numbers)")]);
    expect(Object.keys(await documentOf())).not.toContain("phone");
    await takeFacts(orders.db);
    const nothing = Object.fromEntries(Object.keys(ada).map((field) => [field, null]));
    const left = { attendee_email: ada.attendee_email, country: ada.country, state: ada.state };
    const tickets = [
      position({ id: 1, ...nothing, ...left }),
      position({ id: 2, positionid: 2, secret: "second", canceled: true, ...nothing, ...left }),
    ];
    await take(order({}, { event: "other" }), bare, order({ phone: null, positions: tickets }));
    expect(await takeFacts(orders.db)).toEqual([]);
  });

  it("[D4.8] is left out where a record says that an order of before was placed later, or moves its tickets to a later one", async () => {
    const later = new Date(Date.now() + 60_000).toISOString();
    await erase(orders.service, place, { kinds: everyKind });
    const redated = (await orders.apply(order({ datetime: later })))[1] ?? {};
    expect(Object.keys(redated)).toEqual(expect.arrayContaining(["datetime", "email", "positions.0.attendee_name"]));
    const nothing = { email: null, phone: null, customer: null, invoice_address: null };
    const tickets = [position({ id: 1 }), position({ id: 2, positionid: 2, secret: "second", canceled: true })];
    expect(await orders.apply(order({ ...nothing, datetime: later, positions: tickets }))).toEqual({
      1: { datetime: [expect.stringContaining("placed before")] },
    });
    const split = await orders.apply(
      order({ ...nothing, positions: [position({ id: 1 })] }),
      order({ code: "SPLIT", datetime: later, positions: [position({ id: 2, secret: "second", ...ada })] }),
    );
    expect(Object.keys(split[2] ?? {})).toEqual(expect.arrayContaining(["email", "positions.0.attendee_name"]));
    expect((await documentOf())["email"]).toBeUndefined();
    await take(
      order({ ...nothing, positions: [position({ id: 1 })] }),
      order({ ...nothing, code: "SPLIT", datetime: later, positions: [position({ id: 2, secret: "second" })] }),
    );
    const named = order({
      ...{ ...nothing, code: "SPLIT", datetime: later },
      positions: [position({ id: 2, secret: "second", ...ada })],
    });
    expect(Object.keys((await orders.apply(named))[1] ?? {})).toContain("positions.0.attendee_name");
  });

  it("[D4.8] is left out where an order of before has left its ticket to a later one in an import before", async () => {
    await erase(orders.service, place, { kinds: everyKind });
    const later = new Date(Date.now() + 60_000).toISOString();
    const nothing = { email: null, phone: null, customer: null, invoice_address: null };
    const taking = (id: number, more: object = {}) =>
      order({ ...nothing, code: "SPLIT", datetime: later, positions: [position({ id, secret: `s${id}`, ...more })] });
    await take(order({ ...nothing, positions: [position({ id: 1 })] }));
    expect(Object.keys((await orders.apply(taking(2, ada)))[1] ?? {})).toContain("positions.0.attendee_name");
    await take(order({}, { deleted: true }));
    expect(Object.keys((await orders.apply(taking(1, ada)))[1] ?? {})).toContain("positions.0.attendee_name");
    await take(taking(55, ada));
    await take(taking(2));
    const again = (await orders.apply(taking(2, ada)))[1] ?? {};
    expect(Object.keys(again)).toContain("positions.0.attendee_name");
    const lost = () => orders.db.many(sql`select id from lost_position order by id`);
    expect(await lost()).toEqual([{ id: 1 }, { id: 2 }]);
    await take(order({ positions: [position({ id: 1 })] }, { event: "other" }));
    expect(await lost()).toHaveLength(2);
  });

  it("[D4.8] is left out where an order of before is removed directly before a later one brings its ticket", async () => {
    await erase(orders.service, place, { kinds: everyKind });
    const later = new Date(Date.now() + 60_000).toISOString();
    const split = order({ code: "SPLIT", datetime: later, positions: [position({ id: 2, secret: "second", ...ada })] });
    const errors = await orders.apply(order({}, { deleted: true }), split);
    expect(Object.keys(errors[2] ?? {})).toEqual(expect.arrayContaining(["email", "positions.0.attendee_name"]));
    expect(await orders.db.many(sql`select id from lost_position order by id`)).toEqual([{ id: 1 }, { id: 2 }]);
  });

  it("[D4.8] is taken in whole where the order was placed later, and a repetition leaves it", async () => {
    const request = { ...place, case: randomUUID(), kinds: everyKind };
    const next = (datetime: string) =>
      order({
        code: "NEXT",
        datetime,
        positions: [position({ id: 77, secret: "next", ...ada, answers })],
      });
    const aheadBy = (ms: number) => new Date(Date.now() + ms).toISOString();
    // The clock of a shop may be ahead.
    const later = aheadBy(60_000);
    await orders.service.deliver(topics.shredRequested, [{ ...request, again: true, fromLedger: true }]);
    expect(Object.keys((await orders.apply(next(later)))[1] ?? {})).toContain("email");
    await finishWork(orders.db, orders.service.workers);
    for (const datetime of ["2026-01-01T00:00:00Z", aheadBy(10 * 60_000), "2099-01-01T00:00:00Z"])
      expect(Object.keys((await orders.apply(next(datetime)))[1] ?? {})).toContain("email");
    await take({ ...sample.event({ slug: "fest", date_from: later, live: true }), event: "fest" }, next(later));
    const taken = await documentOf("NEXT");
    expect(taken).toMatchObject({ email: "buyer@example.org", phone: "+4930123456" });
    expect(await findErased(orders.service, request)).toMatchObject({ state: ErasureState.DONE, left: {} });
    // Erased data has come back, for instance with a backup.
    await orders.db.run(sql`update "order" set data = data || '{"email": "back@example.org"}' where code = 'FULL'`);
    expect((await findErased(orders.service, request)).left).toEqual({ "order_emails order.data": 1 });
    expect(await erase(orders.service, place, request)).toMatchObject({ left: {} });
    expect(await documentOf("NEXT")).toEqual(taken);
    const { fileKey } = await orders.db.one<{ fileKey: string }>(
      sql`select file_key as "fileKey" from answer_file where event = 'fest' and position = 77`,
    );
    expect((await collect(orders.files.list(""))).map(({ key }) => key)).toContain(fileKey);
    expect((await readPosition(orders.db, { id: 77 })).attendeeName).toBe("Ada Quill");
    expect((await documentOf())["email"]).toBeUndefined();
    expect(await erase(orders.service, place, { kinds: everyKind })).toMatchObject({ left: {} });
    expect((await documentOf("NEXT"))["email"]).toBeUndefined();
  });

  it("[D8.1] stays, where the ledger repeats the erasure for a database that has lost it", async () => {
    const { at } = await orders.db.one<{ at: number }>(sql`select clock_timestamp() - interval '1 hour' as at`);
    const [later, ahead] = [at + 1_800_000_000, at + 36_000_000_000].map((each) => new Date(each / 1000).toISOString());
    const next = (more: object) =>
      order({ code: "NEXT", positions: [position({ id: 77, secret: "next", ...ada })], ...more });
    await take(next({ datetime: later }));
    await take(order({ code: "AHEAD", datetime: ahead, positions: [position({ id: 78, secret: "ahead", ...ada })] }));
    const request = { ...place, case: randomUUID(), kinds: [...everyKind] };
    await orders.service.deliver(topics.shredRequested, [
      { ...request, again: true, fromLedger: true, requestedAt: at },
    ]);
    await finishWork(orders.db, orders.service.workers);
    expect(await findErased(orders.service, request)).toMatchObject({ state: ErasureState.DONE, left: {} });
    expect(await documentOf("NEXT")).toMatchObject({ email: "buyer@example.org" });
    for (const code of ["FULL", "AHEAD"]) expect((await documentOf(code))["email"]).toBeUndefined();
    await take(next({ datetime: later, comment: "again" }));
    expect(
      Object.keys((await orders.apply(next({ code: "OLD", datetime: "2026-01-01T00:00:00Z" })))[1] ?? {}),
    ).toContain("email");
  });

  it("[D4.2] is dropped where a gate sends answers late", async () => {
    await erase(orders.service, place, { kinds: ["question_answers"] });
    await orders.service.deliver(topics.answersGiven, [
      answersFact([given(2, 7, "meat")]),
      answersFact([given(2, 8, "fish")], { event: "other" }),
    ]);
    expect((await readPosition(orders.db)).answers).toEqual([]);
    expect((await readPosition(orders.db, { event: "other" })).answers.map(({ answer }) => answer)).toContain("fish");
  });
});
