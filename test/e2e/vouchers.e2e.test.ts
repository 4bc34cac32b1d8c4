import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventData, itemData, orderData, positionData, samplesOf } from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";

const { apiKey, eventPath, groundwork, ofEvent } = samplesOf("vouchers");
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

  it("[V9.1, V9.2, V4.14] go with their event, also where it comes back in the same import", async () => {
    const slug = "shortconf";
    const path = `/api/v1/organizers/vouchers/events/${slug}/vouchers/`;
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
