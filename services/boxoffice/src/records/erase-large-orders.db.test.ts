import { randomBytes, randomUUID } from "node:crypto";
import type { Files } from "@tessera/kit/files/files";
import { sql } from "@tessera/kit/pg/sql";
import { ErasureState } from "@tessera/protos/gen/platform/v1/personal_data";
import { PersonalData } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { erase, findErased } from "@tessera/testkit/erase";
import { finishWork } from "@tessera/testkit/finish-work";
import { startForTest } from "@tessera/testkit/start-for-test";
import { describe, expect, it } from "vitest";
import { boxoffice } from "../index.ts";
import { erasableOrders, place } from "../testing/erasable-orders.ts";
import { position, sample } from "../testing/records.ts";

const orders = erasableOrders();
const { documentOf, storedFiles, take } = orders;

describe("an erasure of orders with much data", () => {
  it("[D3.18, D3.19] has pages that fit in a message, within an order too, and erases few bytes at once", async () => {
    const long = () => randomBytes(4500).toString("base64url");
    const tickets = Array.from({ length: 450 }, (_, at) =>
      position({
        id: 100 + at,
        positionid: 1 + at,
        secret: `long${at}`,
        street: long(),
        answers: [{ question: 2, answer: long(), question_identifier: "DIET" }],
      }),
    );
    await take(sample.order({ code: "BIG", positions: tickets }));
    const client = orders.service.connect(PersonalData);
    // Answers are read with the whole ticket: 12 KB each, half of which a page shows.
    for (const [file, count] of [
      ["attendee-info.json", 2],
      ["question-answers.json", 3],
    ] as const) {
      const pages: { readonly key: string; readonly json: Uint8Array }[][] = [];
      for (let after: string | undefined = ""; after !== undefined; ) {
        const page: Awaited<ReturnType<typeof client.readPersonalData>> = await client.readPersonalData({
          ...place,
          file,
          after,
        });
        pages.push(page.entries);
        after = page.next || undefined;
      }
      const sizes = pages.map((entries) => entries.reduce((sum, { json }) => sum + json.length, 0));
      expect(pages.filter((entries) => entries.some(({ key }) => key.startsWith("BIG"))).length).toBe(count);
      expect(Math.max(...sizes)).toBeLessThan(2.1 * 2 ** 20);
      const keys = pages.flat().map(({ key }) => key);
      expect(keys.filter((key) => key.startsWith("BIG"))).toEqual(tickets.map((_, at) => `BIG-${at + 1}`));
      expect(keys).toContain("FULL-1");
    }
    const slices = async () =>
      (
        await orders.db.one<{ count: number }>(
          sql`select count(distinct xmin::text)::int from "order" where event = 'fest'`,
        )
      ).count;
    await orders.db.run(sql`update "order" set revision = revision where event = 'fest'`);
    expect(await slices()).toBe(1);
    expect(await erase(orders.service, place, { kinds: ["attendee_info"] })).toMatchObject({
      parts: { "attendee_info order.data": 462 },
      left: {},
    });
    // One order did not change, and the others were changed in two transactions.
    expect(await slices()).toBe(3);
  });

  it("[D3.19] erases positions in parts, before the document of their order", async () => {
    const tickets = Array.from({ length: 501 }, (_, at) =>
      position({ id: 100 + at, positionid: 1 + at, secret: `wide${at}`, attendee_name: "Ada" }),
    );
    await take(sample.order({ code: "WIDE", positions: tickets }));
    await orders.db.run(sql`
      create function stumble() returns trigger language plpgsql as $$
      begin
        if new.code = 'WIDE' then raise exception 'the process was killed'; end if;
        return new;
      end $$`);
    await orders.db.run(sql`create trigger stumble before update on "order" for each row execute function stumble()`);
    const request = { ...place, case: randomUUID() };
    await orders.service.deliver(topics.shredRequested, [
      { ...request, kinds: ["attendee_info"], again: true, fromLedger: true },
    ]);
    await finishWork(orders.db, orders.service.workers);
    const parts = () =>
      orders.db.many<{ count: number }>(sql`
        select count(*)::int as count from position where order_code = 'WIDE' group by xmin::text order by 1`);
    expect(await parts()).toEqual([{ count: 1 }, { count: 500 }]);
    expect((await documentOf("WIDE")).positions[0]).toMatchObject({ attendee_name: "Ada" });
    await orders.db.run(sql`drop function stumble cascade`);
    await orders.db.run(sql`update work set due_at = now() where state = 'waiting'`);
    await finishWork(orders.db, orders.service.workers);
    expect(await findErased(orders.service, request)).toMatchObject({ state: ErasureState.DONE, left: {} });
    expect(await parts()).toEqual([{ count: 1 }, { count: 500 }]);
  });

  it("[D3.20] removes files before their rows, and goes on after a crash in between", async () => {
    const broken: Files = { ...orders.files, remove: () => Promise.reject(new Error("the process was killed")) };
    const stumbling = await startForTest(boxoffice, { db: orders.db, files: broken });
    const request = { ...place, case: randomUUID() };
    await orders.service.deliver(topics.shredRequested, [
      { ...request, kinds: ["question_answers"], again: true, fromLedger: true },
    ]);
    await finishWork(orders.db, stumbling.workers);
    const rows = () => orders.db.one(sql`select count(*)::int from answer_file where event = 'fest'`);
    expect([await rows(), await findErased(orders.service, request)]).toMatchObject([{ count: 1 }, { parts: {} }]);
    await orders.db.run(sql`update work set due_at = now() where state = 'waiting'`);
    await finishWork(orders.db, orders.service.workers);
    expect(await findErased(orders.service, request)).toMatchObject({ state: ErasureState.DONE, left: {} });
    expect([await rows(), await storedFiles()]).toEqual([{ count: 0 }, 0]);
  });
});
