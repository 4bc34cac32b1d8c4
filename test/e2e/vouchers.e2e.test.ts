import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  apiKey,
  eventData,
  eventPath,
  groundwork,
  itemData,
  listData,
  ofEvent,
  orderData,
  positionData,
} from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";

const as = `Token ${apiKey}`;
const vouchers = `${eventPath}/vouchers/`;

describe("vouchers", () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startTestPlatform();
    const quota = (id: number, size: number) =>
      ofEvent("quota", { id, name: `Quota ${id}`, size, items: [2], variations: [21, 22], subevent: null });
    const answer = await platform.import([...groundwork(), quota(2, 30), quota(3, 5)]);
    expect(answer).toMatchObject({ rejected: 0, settled: true });
    platform.keepOutOfLogs(apiKey);
  });
  afterAll(() => platform?.stop());

  const send = (method: string, path: string, body?: unknown) =>
    platform.request(method, path, { as, ...(body === undefined ? {} : { body }) });
  const create = (body: object) => send("POST", vouchers, body);
  const left = async (quota: number, size: number) => {
    // What the ledger still gives away: the largest voucher that it takes.
    for (let wanted = size; wanted > 0; wanted -= 1) {
      const { status, body } = await create({ quota, block_quota: true, max_usages: wanted });
      if (status !== 201) continue;
      await send("DELETE", `${vouchers}${body.id}/`);
      return wanted;
    }
    return 0;
  };

  it("has every field of a new voucher, and its defaults", async () => {
    const { status, body } = await create({});
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(Number),
      created: expect.stringMatching(/Z$/),
      code: expect.stringMatching(/^[A-Z2-9]{16}$/),
      max_usages: 1,
      redeemed: 0,
      min_usages: 1,
      valid_until: null,
      block_quota: false,
      allow_ignore_quota: false,
      price_mode: "none",
      value: null,
      item: null,
      variation: null,
      quota: null,
      tag: "",
      comment: "",
      subevent: null,
      show_hidden_items: true,
      seat: null,
      all_addons_included: false,
      all_bundles_included: false,
      budget: null,
      budget_used: "0.00",
    });
    expect((await send("GET", `${vouchers}${body.id}/`)).body).toEqual(body);
  });

  it("[V4.10] fifty that want a quota of thirty block exactly thirty", async () => {
    const body = { quota: 2, block_quota: true, tag: "many" };
    // On a busy machine some wait too long for the others, and are sent again.
    const createAtLast = async () => {
      const headers = { "x-idempotency-key": randomUUID() };
      let status = 0;
      const isFinal = async () => {
        ({ status } = await platform.request("POST", vouchers, { as, headers, body }));
        return status === 201 || status === 400;
      };
      await expect.poll(isFinal, { interval: 200 }).toBe(true);
      return status;
    };
    const statuses = await Promise.all(Array.from({ length: 50 }, createAtLast));
    expect(statuses.filter((status) => status === 201)).toHaveLength(30);
    expect(statuses.filter((status) => status === 400)).toHaveLength(20);
    expect((await send("GET", `${vouchers}?tag=many`)).body.count).toBe(30);
    expect(await left(2, 3)).toBe(0);
  });

  it("give back what they took when they are deleted, expire or take less", async () => {
    const { body } = await create({ quota: 3, block_quota: true, max_usages: 5 });
    expect(await left(3, 1)).toBe(0);
    expect((await send("PATCH", `${vouchers}${body.id}/`, { max_usages: 3 })).status).toBe(200);
    await expect.poll(() => left(3, 5)).toBe(2);
    const raised = await send("PATCH", `${vouchers}${body.id}/`, { max_usages: 6 });
    expect([raised.status, Object.keys(raised.body)]).toEqual([400, ["non_field_errors"]]);
    expect((await send("PATCH", `${vouchers}${body.id}/`, { valid_until: "2020-01-01T00:00:00Z" })).status).toBe(200);
    await expect.poll(() => left(3, 5)).toBe(5);
    // What others give back arrives by the bus.
    const reopen = () => send("PATCH", `${vouchers}${body.id}/`, { valid_until: null });
    await expect.poll(async () => (await reopen()).status).toBe(200);
    expect((await send("DELETE", `${vouchers}${body.id}/`)).status).toBe(204);
    await expect.poll(() => left(3, 5)).toBe(5);
  });

  it("[V3.8, V3.10] are created in a batch all or none; the answer is in the order of the request", async () => {
    const bad = await send("POST", `${vouchers}batch_create/`, [
      { code: "BATCH-1" },
      { code: "x", price_mode: "free" },
      { quota: 3, block_quota: true, max_usages: 3 },
      { quota: 3, block_quota: true, max_usages: 3 },
    ]);
    expect([bad.status, bad.body]).toEqual([
      400,
      [{}, { code: [expect.any(String)], price_mode: [expect.any(String)] }, {}, {}],
    ]);
    const tooMuch = await send("POST", `${vouchers}batch_create/`, [
      { quota: 3, block_quota: true, max_usages: 3 },
      { quota: 3, block_quota: true, max_usages: 3 },
    ]);
    expect(tooMuch.status).toBe(400);
    expect(tooMuch.body.filter((errors: object) => "non_field_errors" in errors).length).toBeGreaterThan(0);
    const good = await send("POST", `${vouchers}batch_create/`, [{ code: "batch-1" }, {}, { code: "BATCH-3" }]);
    expect(good.status).toBe(201);
    expect(good.body.map(({ code }: { code: string }) => code)).toEqual([
      "BATCH-1",
      expect.stringMatching(/^[A-Z2-9]{16}$/),
      "BATCH-3",
    ]);
    expect((await create({ code: "batch-3" })).body).toEqual({ non_field_errors: [expect.any(String)] });
  });

  it("[V6.1, V6.5] are used by orders, and cannot be deleted then", async () => {
    const { body } = await create({ code: "USED-BY-ORDERS", max_usages: 3, budget: "100.00" });
    const order = (status: string) =>
      ofEvent(
        "order",
        orderData({
          code: "VOUCH",
          status,
          positions: [
            positionData({ id: 7001, secret: "voucher-ticket", voucher: body.id, voucher_budget_use: "12.50" }),
          ],
        }),
      );
    expect(await platform.import([order("p")])).toMatchObject({ rejected: 0, settled: true });
    const shown = async () => (await send("GET", `${vouchers}${body.id}/`)).body;
    expect(await shown()).toMatchObject({ redeemed: 1, budget_used: "12.50" });
    expect(await platform.import([order("c")])).toMatchObject({ rejected: 0, settled: true });
    expect(await shown()).toMatchObject({ redeemed: 0, budget_used: "0.00" });
    const refused = await send("DELETE", `${vouchers}${body.id}/`);
    expect([refused.status, Object.keys(refused.body)]).toEqual([403, ["detail"]]);
  });

  it("[C2.12, C2.35] are a filter of tickets, by id and by code, which no ticket shows", async () => {
    const positions = `${eventPath}/checkinlists/1/positions/`;
    const bought = positionData({ id: 7101, secret: "bought-with-a-voucher", voucher: 78 });
    const answer = await platform.import([
      ofEvent("checkin_list", listData()),
      ofEvent("voucher", { id: 78, code: "friends-of-ada", max_usages: 5, as_of: "2026-01-01T00:00:00Z" }),
      ofEvent("order", orderData({ code: "FRIEND", positions: [bought] })),
    ]);
    expect(answer).toMatchObject({ rejected: 0, settled: true });
    const find = async (query: string) => (await send("GET", `${positions}?${query}`)).body;
    const found = { count: 1, results: [{ id: 7101, voucher: 78 }] };
    expect(await find("voucher=78")).toMatchObject(found);
    // The voucher counts its uses by facts, and its code arrives by another one.
    await expect.poll(() => find("voucher__code=FRIENDS-OF-ADA")).toMatchObject(found);
    expect(await find("voucher__code=FRIENDS")).toMatchObject({ count: 0 });
    expect(JSON.stringify(await find("voucher=78&expand=voucher&expand=item"))).not.toMatch(/friends-of-ada/i);
  });

  it("[V6.6] come as records, with their uses", async () => {
    const record = ofEvent("voucher", {
      id: 77,
      code: "printed",
      max_usages: 9,
      redeemed: 4,
      budget_used: "8.00",
      item: 1,
    });
    expect(await platform.import([record])).toMatchObject({ rejected: 0, settled: true });
    expect((await send("GET", `${vouchers}77/`)).body).toMatchObject({
      code: "PRINTED",
      redeemed: 4,
      budget_used: "8.00",
    });
    expect((await send("GET", `${vouchers}?code=Printed`)).body.results).toHaveLength(1);
    expect(await platform.import([{ ...record, data: { id: 77 }, deleted: true }])).toMatchObject({ rejected: 0 });
    expect((await send("GET", `${vouchers}77/`)).status).toBe(404);
  });

  it("[V9.4] are for everything when their product is deleted, and take nothing of its quota any more", async () => {
    const item = ofEvent("item", itemData({ id: 50, category: null }));
    const quota = (items: number[]) =>
      ofEvent("quota", { id: 50, name: "Fifty", size: 5, items, variations: [], subevent: null });
    expect(await platform.import([item, quota([50])])).toMatchObject({ rejected: 0, settled: true });
    const all = { item: 50, block_quota: true, max_usages: 5 };
    const { body } = await create(all);
    expect((await create(all)).status).toBe(400);
    const deletion = { ...item, data: { id: 50 }, deleted: true };
    expect(await platform.import([quota([]), deletion])).toMatchObject({ rejected: 0, settled: true });
    const { body: after } = await send("GET", `${vouchers}${body.id}/`);
    expect(after).toEqual({ ...body, item: null });
    expect(await platform.import([item, quota([50])])).toMatchObject({ rejected: 0, settled: true });
    expect((await send("GET", `${vouchers}${body.id}/`)).body).toEqual(after);
    await expect.poll(async () => (await create(all)).status).toBe(201);
  });

  it("[V9.1, V9.2, V4.14] go with their event, also where it comes back in the same import", async () => {
    const slug = "shortconf";
    const path = `/api/v1/organizers/bigevents/events/${slug}/vouchers/`;
    const used = positionData({ id: 8001, secret: "used-in-a-short-event", voucher: 5 });
    const event = (code: string) => [
      ofEvent("event", eventData({ slug }), slug),
      ofEvent("item", itemData({ category: null }), slug),
      ofEvent("quota", { id: 1, name: "All", size: 3, items: [1], variations: [], subevent: null }, slug),
      ofEvent("voucher", { id: 5, code, item: 1, block_quota: true, max_usages: 3 }, slug),
    ];
    const order = ofEvent("order", orderData({ code: "SHORT", positions: [used] }), slug);
    expect(await platform.import([...event("FORMER"), order])).toMatchObject({ rejected: 0, settled: true });
    expect((await send("GET", `${path}5/`)).body).toMatchObject({ code: "FORMER", redeemed: 1 });
    const deletion = { ...ofEvent("event", { slug }, slug), deleted: true };
    expect(await platform.import([deletion, ...event("LATTER")])).toMatchObject({ rejected: 0, settled: true });
    const { body } = await send("GET", path);
    expect(body).toMatchObject({ count: 1, results: [{ id: 5, code: "LATTER", redeemed: 0 }] });
    expect(await platform.import([{ ...ofEvent("voucher", { id: 5 }, slug), deleted: true }])).toMatchObject({
      rejected: 0,
      settled: true,
    });
    const all = { item: 1, block_quota: true, max_usages: 3 };
    await expect.poll(async () => (await send("POST", path, all)).status).toBe(201);
    expect((await send("POST", path, all)).status).toBe(400);
  });
});
