import { randomUUID } from "node:crypto";
import type { Files } from "@tessera/kit/files/files";
import { sql } from "@tessera/kit/pg/sql";
import { ErasureState } from "@tessera/protos/gen/platform/v1/personal_data";
import { topics } from "@tessera/protos/topics";
import { fileWith } from "@tessera/sent-files/testing/sample-files";
import { erase, findErased } from "@tessera/testkit/erase";
import { beginPut, collect } from "@tessera/testkit/files-contract";
import { finishWork, startTestWorkers } from "@tessera/testkit/finish-work";
import { startForTest } from "@tessera/testkit/start-for-test";
import { describe, expect, it } from "vitest";
import { boxoffice } from "../index.ts";
import { ada, answers, erasableOrders, everyKind, order, place } from "../testing/erasable-orders.ts";
import { takeFacts } from "../testing/facts.ts";
import { answersFact, given, readPosition } from "../testing/given-at-gate.ts";
import { position, sample } from "../testing/records.ts";
import { keyOfFile } from "./answer-file.ts";
import { gateFileCopy } from "./change-gate-answers.ts";

const orders = erasableOrders();
const { documentOf, storedFiles, take } = orders;

describe("an erasure of orders", () => {
  it("[D3.13, D3.15] empties their fields by kind, also of canceled tickets, and leaves the other kinds", async () => {
    const [before, elsewhere] = [await documentOf(), await documentOf("FULL", "other")];
    const erased = await erase(orders.service, place, { kinds: ["attendee_info"] });
    expect(erased).toMatchObject({ state: ErasureState.DONE, left: {}, parts: { "attendee_info order.data": 12 } });
    const { positions, ...rest } = await documentOf();
    const { positions: former, ...formerRest } = before;
    expect(rest).toEqual(formerRest);
    const empty = {
      attendee_name: undefined,
      attendee_name_parts: {},
      company: undefined,
      street: undefined,
      zipcode: undefined,
      city: undefined,
    };
    expect(positions).toEqual(former.map((each) => ({ ...each, ...empty })));
    expect(positions[0]).toMatchObject({ country: "DE", state: "BE", attendee_email: "ada@example.org" });
    expect(await erase(orders.service, place, { kinds: ["phone_numbers", "order_emails"] })).toMatchObject({
      parts: { "phone_numbers order.data": 1, "order_emails order.data": 4 },
    });
    const half = await documentOf();
    expect([half["phone"], half["email"], half["customer"]]).toEqual([undefined, undefined, undefined]);
    expect(half["invoice_address"]).toEqual(before["invoice_address"]);
    await erase(orders.service, place, { kinds: ["invoice_addresses"] });
    expect((await documentOf())["invoice_address"]).toBeUndefined();
    expect(await documentOf("FULL", "other")).toEqual(elsewhere);
  });

  it("[D3.23] leaves what the organizer noted", async () => {
    const noted = { comment: "call Ada", checkin_text: "VIP", api_meta: { crm: "Ada" } };
    await take(order({ ...noted, fees: [{ description: "courier to Ada", value: "1.00" }] }));
    await erase(orders.service, place, { kinds: everyKind });
    expect(await documentOf()).toMatchObject({ ...noted, fees: [{ description: "courier to Ada" }] });
  });

  it("[D3.2] counts what is left by kind, each order and each ticket once for a kind", async () => {
    const stored = sql`
      select "order".data, position.id, position.state
        from "order"
        join position on position.organizer = "order".organizer
                     and position.event = "order".event
                     and position.order_code = "order".code
       where "order".event = 'fest' and "order".code = 'FULL'`;
    const rows = await orders.db.many<{ data: object; id: number; state: Buffer }>(stored);
    const { case: id } = await erase(orders.service, place, {
      kinds: ["order_emails", "attendee_info", "phone_numbers"],
    });
    for (const row of rows) {
      await orders.db.run(
        sql`update "order" set data = ${JSON.stringify(row.data)}::jsonb where event = 'fest' and code = 'FULL'`,
      );
      await orders.db.run(sql`update position set state = ${row.state} where event = 'fest' and id = ${row.id}`);
    }
    expect((await findErased(orders.service, { ...place, case: id })).left).toEqual({
      ...{ "order_emails order.data": 1, "attendee_info order.data": 1, "phone_numbers order.data": 1 },
      ...{ "order_emails position.state": 2, "attendee_info position.state": 2 },
    });
  });

  it("[D3.14] publishes tickets that have lost something, once each, and no others", async () => {
    await erase(orders.service, place, { kinds: everyKind });
    const facts = (await takeFacts(orders.db)).filter(({ topic }) => topic === "position-changed");
    expect(facts.map(({ key }) => key)).toEqual(["org/fest/1", "org/fest/2"]);
    expect(JSON.stringify(facts)).not.toMatch(/Ada|ada@|buyer@|Example Ltd|vegan/);
    const { country, state, order: shown } = await readPosition(orders.db);
    expect([country, state, shown?.email, shown?.invoiceName]).toEqual(["DE", "BE", undefined, undefined]);
    const { xmin } = await orders.db.one<{ xmin: string }>(sql`select xmin::text from "order" where code = 'BARE'`);
    expect(await erase(orders.service, place, { kinds: everyKind })).toMatchObject({ parts: {}, left: {} });
    expect(await takeFacts(orders.db)).toEqual([]);
    expect(await orders.db.one(sql`select xmin::text from "order" where code = 'BARE'`)).toEqual({ xmin });
  });

  it("[D3.14] deletes answers of records and of gates, with their files", async () => {
    const upload = randomUUID();
    await orders.files.put(`uploads/${upload}`, fileWith("image/png", "at the gate"), { contentType: "image/png" });
    await orders.service.deliver(topics.answersGiven, [
      answersFact([given(2, 7, "meat")], { position: 1 }),
      answersFact([given(1, 8, "a file", { upload })], { position: 2 }),
    ]);
    await finishWork(orders.db, orders.service.workers);
    expect(await storedFiles()).toBe(2);
    await takeFacts(orders.db);
    expect(await erase(orders.service, place, { kinds: ["question_answers"] })).toMatchObject({
      parts: {
        "question_answers order.data": 1,
        "question_answers answer_file": 1,
        "question_answers gate_answer": 2,
      },
      left: {},
    });
    expect([await storedFiles(), await storedFiles("other")]).toEqual([0, 1]);
    expect((await documentOf()).positions[0]).toMatchObject({ answers: [], attendee_name: "Ada Quill" });
    for (const id of [1, 2]) expect((await readPosition(orders.db, { id })).answers).toEqual([]);
    const told = (await takeFacts(orders.db)).filter(({ topic }) => topic === "position-changed");
    expect(new Set(told.map(({ key }) => key))).toEqual(new Set(["org/fest/1", "org/fest/2"]));
    const last = new Map(
      told.map(({ key, value }) => [key, (value as { position: { answers: object[] } } | null)?.position.answers]),
    );
    expect([...last.values()]).toEqual([[], []]);
  });

  it("[D3.24] leaves no photo of a former answer, be it sent again, replaced or of a removed order", async () => {
    const photo = `data:image/png;base64,${fileWith("image/png", "another portrait").toString("base64")}`;
    const replaced = position({ id: 1, ...ada, answers: [{ ...answers[0], answer: photo }] });
    const removed = order({ code: "GONE", positions: [position({ id: 9, secret: "ninth", answers })] });
    await take(order(), order({ positions: [replaced] }), removed, { ...removed, deleted: true });
    expect(await storedFiles()).toBe(4);
    await erase(orders.service, place, { kinds: ["attendee_info"] });
    expect(await storedFiles()).toBe(4);
    await erase(orders.service, place, { kinds: ["question_answers"] });
    expect([await storedFiles(), await storedFiles("other")]).toEqual([0, 1]);
  });

  it("[D3.24] leaves nothing of a file that a killed process had begun before", async () => {
    const killed = await beginPut(orders.files, keyOfFile(place, randomUUID()));
    const there = await beginPut(orders.files, keyOfFile({ ...place, event: "other" }, randomUUID()));
    await erase(orders.service, place, { kinds: ["question_answers"] });
    expect((await collect(orders.files.listUnfinished(""))).map(({ key }) => key)).toEqual([there.key]);
    for (const { release } of [killed, there]) release();
    expect([await killed.ended, await there.ended]).toMatchObject([{ code: "files_unavailable" }, { size: 8 }]);
  });

  it("[D3.24] leaves a file that was stored since its request: its order may be new", async () => {
    const key = keyOfFile(place, randomUUID());
    const storing: Files = {
      ...orders.files,
      async *list(prefix) {
        await orders.files.put(key, fileWith("image/png", "of a new order"), { contentType: "image/png" });
        yield* orders.files.list(prefix);
      },
    };
    const erasing = await startForTest(boxoffice, { db: orders.db, files: storing });
    await erase(erasing, place, { kinds: ["question_answers"] });
    expect((await collect(orders.files.list(keyOfFile(place, "")))).map((file) => file.key)).toEqual([key]);
  });

  it("[D4.1] leaves no file that is being copied meanwhile", async () => {
    const may = Promise.withResolvers<void>();
    const slow: Files = {
      ...orders.files,
      async put(...given) {
        const stored = await orders.files.put(...given);
        await may.promise;
        return stored;
      },
    };
    const upload = randomUUID();
    await orders.files.put(`uploads/${upload}`, fileWith("image/png", "at the gate"), { contentType: "image/png" });
    const copying = await startForTest(boxoffice, { db: orders.db, files: slow });
    await orders.service.deliver(topics.answersGiven, [
      answersFact([given(1, 8, "a file", { upload })], { position: 2 }),
    ]);
    const workers = startTestWorkers(
      orders.db,
      copying.workers.filter(({ work }) => work.kind === gateFileCopy.kind),
    );
    try {
      await expect.poll(() => storedFiles()).toBe(2);
      const id = randomUUID();
      const erasing = erase(orders.service, place, { kinds: ["question_answers"], case: id });
      await expect
        .poll(async () => (await findErased(orders.service, { ...place, case: id })).state)
        .toBe(ErasureState.DONE);
      may.resolve();
      await erasing;
    } finally {
      await workers.stop();
    }
    expect(await storedFiles()).toBe(0);
  });

  it("[D3.2] goes on after a crash, and counts everything once", async () => {
    const many = Array.from({ length: 500 }, (_, at) => ({
      ...sample.order({
        code: `A${at}`,
        email: "buyer@example.org",
        positions: [position({ id: 100 + at, secret: `many${at}` })],
      }),
    }));
    await take(...many);
    await orders.db.run(sql`
      create function stumble() returns trigger language plpgsql as $$
      begin
        if (select count(*) from "order" where event = 'fest' and data ->> 'email' is null) > 501 then
          raise exception 'the process was killed';
        end if;
        return null;
      end $$`);
    await orders.db.run(
      sql`create trigger stumble after update on "order" for each statement execute function stumble()`,
    );
    const request = { ...place, case: randomUUID() };
    await orders.service.deliver(topics.shredRequested, [
      { ...request, kinds: ["order_emails"], again: true, fromLedger: true },
    ]);
    await finishWork(orders.db, orders.service.workers);
    const halfway = await findErased(orders.service, request);
    // Of 500 orders, one of which has two addresses.
    expect([halfway.state, halfway.parts]).toEqual([ErasureState.RUNNING, { "order_emails order.data": 501 }]);
    await orders.db.run(sql`drop function stumble cascade`);
    await orders.db.run(sql`update work set due_at = now() where state = 'waiting'`);
    await finishWork(orders.db, orders.service.workers);
    expect(await findErased(orders.service, request)).toMatchObject({
      state: ErasureState.DONE,
      left: {},
      parts: { "order_emails order.data": 504 },
    });
  });
});
