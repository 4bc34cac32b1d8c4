import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { platformKinds } from "./run-platform.ts";
import { apiKey, eventPath, groundwork, ofEvent, orderData, positionData } from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";

const as = `Token ${apiKey}`;
const vouchers = `${eventPath}/vouchers/`;

describe.each(platformKinds)("vouchers, %s", (kind) => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startTestPlatform({ kind });
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
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => create({ quota: 2, block_quota: true, tag: "many" })),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(30);
    expect(statuses.filter((status) => status === 400 || status === 409)).toHaveLength(20);
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
});
