import { beforeEach, describe, expect, it } from "vitest";
import { aVoucher } from "../../testing/fake-peers.ts";
import { appOfEachTest, inEvent } from "../../testing/serve-app.ts";

const vouchers = `${inEvent}/vouchers/`;

const app = appOfEachTest();
beforeEach(() => {
  app.peers.when("vouchers", "createVouchers", async ({ vouchers: asked }) => ({
    vouchers: asked.map(({ fields }) => aVoucher(fields)),
  }));
  app.peers.when("vouchers", "updateVoucher", async () => ({ voucher: aVoucher() }));
  app.peers.when("vouchers", "getVoucher", async () => ({ voucher: aVoucher() }));
});

describe("a field of a voucher", () => {
  const number = [0, -1, 1.5, "x", true, [1]];
  const text = [null, "x".repeat(256), false, {}];
  const count = [null, "", -1, 2_147_483_648, 1.5, "many", true, [1]];
  const money = ["much", "1,50", 1.234, "123456789012.00", true, "NaN"];
  const isSo = [null, "maybe", "", 2];
  /** What each field refuses. */
  const refused: Readonly<Record<string, readonly unknown[]>> = {
    ...{
      code: [null, "", "  ", "x".repeat(256), "ABCD\u0000E", true, ["ABCDE"]],
      max_usages: count,
      min_usages: count,
    },
    ...{ valid_until: ["", "tomorrow", 5, "2027-02-30T00:00:00Z"], block_quota: isSo, allow_ignore_quota: isSo },
    ...{ show_hidden_items: isSo, all_addons_included: isSo, all_bundles_included: isSo },
    ...{ price_mode: [null, "", "NONE", "gift", 1], value: money, budget: money, item: number, variation: number },
    ...{ quota: number, subevent: number, seat: ["", " ", "x".repeat(256), true], tag: text },
    comment: [null, "x".repeat(65_537), false, []],
  };
  const most = Math.max(...Object.values(refused).map(({ length }) => length));
  const bodies = Array.from({ length: most }, (_, at) =>
    Object.fromEntries(
      Object.entries(refused).flatMap(([field, values]) => (at in values ? [[field, values[at]]] : [])),
    ),
  );
  it.each(bodies)(
    "[V1.1, V1.2, V1.3, V1.4, V1.5, V1.6, V1.7, V1.8, V1.9] each of %j is refused, on POST, in a batch, on PUT and PATCH",
    async (body) => {
      const problem = Object.fromEntries(Object.keys(body).map((field) => [field, [expect.any(String)]]));
      for (const [method, path, sent, said] of [
        ["POST", vouchers, body, problem],
        ["POST", `${vouchers}batch_create/`, [{}, body], [{}, problem]],
        ["PUT", `${vouchers}7/`, body, problem],
        ["PATCH", `${vouchers}7/`, body, problem],
      ] as const) {
        const { status, json } = await app.send(method, path, { body: sent });
        expect([method, status, json]).toEqual([method, 400, said]);
      }
      expect(app.peers.calls.filter(({ method }) => method !== "getVoucher")).toEqual([]);
    },
  );

  it.each(["ABCD", " ABCD "])(
    "[V1.1] a new voucher cannot have the code %j, and one that has it keeps it",
    async (code) => {
      const problem = { code: [expect.stringContaining("at least 5 characters")] };
      expect(await app.send("POST", vouchers, { body: { code } })).toMatchObject({ status: 400, json: problem });
      const batch = await app.send("POST", `${vouchers}batch_create/`, { body: [{ code }] });
      expect(batch).toMatchObject({ status: 400, json: [problem] });
      expect(app.peers.calls).toEqual([]);
      for (const method of ["PUT", "PATCH"])
        expect((await app.send(method, `${vouchers}7/`, { body: { code } })).status).toBe(200);
    },
  );

  it.each([
    ["code", " abc de ", { code: "abc de" }],
    ["code", "🎫".repeat(255), { code: "🎫".repeat(255) }],
    ["code", 12345, { code: "12345" }],
    ["max_usages", 0, { maxUsages: 0 }],
    ["max_usages", "2147483647", { maxUsages: 2_147_483_647 }],
    ["min_usages", "3.0", { minUsages: 3 }],
    ["valid_until", null, { validUntil: undefined }],
    ["valid_until", "1999-01-01T00:00:00.000001+01:00", { validUntil: Date.UTC(1998, 11, 31, 23) * 1000 + 1 }],
    ["block_quota", "yes", { blockQuota: true }],
    ["allow_ignore_quota", 1, { allowIgnoreQuota: true }],
    ["price_mode", "none", { priceMode: "none" }],
    ["price_mode", "set", { priceMode: "set" }],
    ["price_mode", "subtract", { priceMode: "subtract" }],
    ["price_mode", "percent", { priceMode: "percent" }],
    ["value", "-1e1", { value: "-10.00" }],
    ["value", 12345678901.25, { value: "12345678901.25" }],
    ["value", "", { value: undefined }],
    ["budget", "500", { budget: "500.00" }],
    ["item", "4", { item: 4 }],
    ["variation", "", { variation: undefined }],
    ["quota", 5, { quota: 5 }],
    ["subevent", null, { subevent: undefined }],
    ["seat", "A-1", { seat: "A-1" }],
    ["seat", null, { seat: undefined }],
    ["tag", "", { tag: "" }],
    ["comment", "x".repeat(65_536), { comment: "x".repeat(65_536) }],
    ["show_hidden_items", false, { showHiddenItems: false }],
    ["all_addons_included", true, { allAddonsIncluded: true }],
    ["all_bundles_included", true, { allBundlesIncluded: true }],
  ])("[V1.1, V1.2, V1.3, V1.4, V1.5, V1.6, V1.7, V1.8, V1.9] %s takes %j", async (field, value, fields) => {
    expect((await app.send("POST", vouchers, { body: { [field]: value } })).status).toBe(201);
    expect((await app.send("PATCH", `${vouchers}7/`, { body: { [field]: value } })).status).toBe(200);
    expect(app.peers.requestsOf("createVouchers")).toMatchObject([{ vouchers: [{ fields, sent: [field] }] }]);
    expect(app.peers.requestsOf("updateVoucher")).toMatchObject([{ fields, updateMask: [field] }]);
  });

  it("[V1.9] a comment of the greatest length fits, also with every character escaped", async () => {
    const comment = "\u{1f3ab}".repeat(65_536);
    const body = `{"comment":"${"\\ud83c\\udfab".repeat(65_536)}"}`;
    const headers = { "content-type": "application/json" };
    for (const [path, sent] of [
      [vouchers, body],
      [`${vouchers}batch_create/`, `[${body},${body}]`],
    ] as const) {
      expect((await app.send("POST", path, { headers, body: sent })).status).toBe(201);
    }
    const asked = app.peers.requestsOf("createVouchers") as { vouchers: { fields: { comment: string } }[] }[];
    expect(asked.flatMap((each) => each.vouchers.map(({ fields }) => fields.comment === comment))).toEqual([
      true,
      true,
      true,
    ]);
  });

  it.each(["id", "created", "redeemed", "budget_used", "unknown"])(
    "[V1.10] %s is ignored, whatever it is",
    async (field) => {
      for (const value of [null, 9, "x", {}]) {
        const body = { [field]: value };
        expect((await app.send("POST", vouchers, { body })).status).toBe(201);
        expect((await app.send("PATCH", `${vouchers}7/`, { body })).status).toBe(200);
      }
      expect(app.peers.requestsOf("createVouchers")).toMatchObject(Array(4).fill({ vouchers: [{ sent: [] }] }));
      expect(app.peers.requestsOf("updateVoucher")).toMatchObject(Array(4).fill({ updateMask: [] }));
    },
  );
});
