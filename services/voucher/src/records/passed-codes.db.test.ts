import { beforeEach, describe, expect, it } from "vitest";
import { voucherDatabase } from "../testing/database.ts";
import { place, startVoucher } from "../testing/start-voucher.ts";

const { db } = await voucherDatabase();
const service = await startVoucher(db);
beforeEach(async () => {
  await service.reset();
  await service.prepareEvent();
});

type Sent = { readonly id: number; readonly code: string; readonly item?: number | null };

async function send(...vouchers: readonly Sent[]) {
  const records = vouchers.map((voucher, index) => ({
    line: index + 1,
    kind: "voucher",
    ...place,
    deleted: false,
    data: Buffer.from(JSON.stringify({ item: 1, ...voucher })),
  }));
  return service.records.applyRecords({ records });
}

/** Applies vouchers in one batch, and returns the errors by id. */
async function apply(...vouchers: readonly Sent[]) {
  const { rejected } = await send(...vouchers);
  return Object.fromEntries(
    rejected.map(({ line, errors }) => [vouchers[line - 1]?.id, errors.map(({ field }) => field)]),
  );
}

async function codes(): Promise<Record<number, string | undefined>> {
  const { vouchers } = await service.vouchers.listVouchers({ ...place, page: 1, pageSize: 50, ordering: [] });
  return Object.fromEntries(vouchers.map(({ id, fields }) => [id, fields?.code]));
}

describe("a code that a voucher gives up in a batch", () => {
  beforeEach(async () => {
    expect(await apply({ id: 1, code: "AAAAA" }, { id: 2, code: "BBBBB" })).toEqual({});
  });

  it.each([
    [
      "behind it",
      [
        { id: 1, code: "CCCCC" },
        { id: 2, code: "AAAAA" },
      ],
      { 1: "CCCCC", 2: "AAAAA" },
    ],
    [
      "before it",
      [
        { id: 2, code: "AAAAA" },
        { id: 1, code: "CCCCC" },
      ],
      { 1: "CCCCC", 2: "AAAAA" },
    ],
    [
      "in exchange",
      [
        { id: 1, code: "BBBBB" },
        { id: 2, code: "AAAAA" },
      ],
      { 1: "BBBBB", 2: "AAAAA" },
    ],
    [
      "that is new",
      [
        { id: 3, code: "AAAAA" },
        { id: 1, code: "CCCCC" },
      ],
      { 1: "CCCCC", 2: "BBBBB", 3: "AAAAA" },
    ],
  ])("[R3.93] is free for another voucher %s", async (_name, sent, stored) => {
    expect(await apply(...sent)).toEqual({});
    expect(await codes()).toEqual(stored);
  });

  it("[R3.93] is not free where the record of the giver is rejected, whatever depends on that", async () => {
    expect(await apply({ id: 4, code: "DDDDD" })).toEqual({});
    expect(await apply({ id: 1, code: "DDDDD" }, { id: 2, code: "AAAAA" }, { id: 3, code: "BBBBB" })).toEqual({
      1: ["code"],
      2: ["code"],
      3: ["code"],
    });
    expect(await codes()).toEqual({ 1: "AAAAA", 2: "BBBBB", 4: "DDDDD" });
  });

  it("stays with a voucher that keeps it, and goes to the first of several that can have it", async () => {
    expect(await apply({ id: 2, code: "AAAAA" }, { id: 1, code: "AAAAA" })).toEqual({ 2: ["code"] });
    expect(await apply({ id: 3, code: "DDDDD" }, { id: 4, code: "DDDDD" })).toEqual({ 4: ["code"] });
    expect(await codes()).toEqual({ 1: "AAAAA", 2: "BBBBB", 3: "DDDDD" });
  });

  it("[R3.58] is taken with a voucher for what its event does not have, which is named", async () => {
    const response = await send({ id: 5, code: "EEEEE", item: 8 });
    expect(response).toMatchObject({ rejected: [], warned: { records: [{ line: 1, errors: [{ field: "item" }] }] } });
    expect(await codes()).toMatchObject({ 5: "EEEEE" });
  });

  it("[R3.58] is taken with a voucher that does less than it says, which is named", async () => {
    for (const [fields, field] of [
      [{ item: null, block_quota: true }, "block_quota"],
      [{ item: 8, quota: 3, block_quota: true }, "item"],
    ] as const) {
      const { rejected, warned } = await send({ id: 6, code: "FFFFF", ...fields });
      const named = (warned?.records ?? []).flatMap(({ errors }) => errors.map((error) => error.field));
      expect([rejected, named.includes(field)]).toEqual([[], true]);
    }
  });
});
