import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { voucherDatabase } from "../testing/database.ts";
import { prepareShop } from "../testing/shop.ts";
import { place, startVoucher } from "../testing/start-voucher.ts";

const { db } = await voucherDatabase();
const service = await startVoucher(db);
const page = readFileSync(new URL("../../../../docs/vouchers-for-shops.md", import.meta.url), "utf8");

/** The calls of the page: a heading with the name of the method, the request, and the answer. */
const calls = page
  .split("\n### ")
  .slice(1)
  .map((section) => {
    const blocks = [...section.matchAll(/```json\n([^`]*)```/g)].map(([, text = ""]): unknown => JSON.parse(text));
    return { method: /^\w+/.exec(section)?.[0] ?? "", request: blocks[0], answer: blocks[1] };
  });

/** Renames keys to those of messages. */
function camelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelCase);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => [
    key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    camelCase(inner),
  ]);
  const [first] = entries;
  const [name, inner] = first ?? ["", undefined];
  return name === "offer" || name === "refusal"
    ? { outcome: { $case: name, value: inner } }
    : Object.fromEntries(entries);
}

it("the example for shops has the answers that it shows", async () => {
  await prepareShop(service);
  const data = { id: 25, code: "SUMMER25", max_usages: 3, redeemed: 0, budget_used: "0.00", budget: "10.00" };
  const record = { ...data, price_mode: "percent", value: "25.00" };
  const sent = { line: 1, kind: "voucher", ...place, deleted: false, data: Buffer.from(JSON.stringify(record)) };
  expect((await service.records.applyRecords({ records: [sent] })).rejected).toEqual([]);
  const shop: Readonly<Record<string, (request: never) => Promise<unknown>>> = {
    CheckVouchers: service.shop.checkVouchers,
    ReserveVouchers: service.shop.reserveVouchers,
    ConfirmReservation: service.shop.confirmReservation,
    ReleaseReservation: service.shop.releaseReservation,
  };
  expect(new Set(calls.map(({ method }) => method))).toEqual(new Set(Object.keys(shop)));
  for (const { method, request, answer } of calls) {
    const given = await shop[method]?.(camelCase(request) as never);
    const shown = camelCase(answer);
    expect(given, method).toMatchObject(
      typeof shown === "object" && shown !== null && "expiresAt" in shown
        ? { ...shown, expiresAt: expect.any(Number) }
        : { ...(shown as object) },
    );
  }
  const { voucher } = await service.vouchers.getVoucher({ ...place, id: 25 });
  expect(voucher).toMatchObject({ redeemed: 2, budgetUsed: "10.00" });
});
