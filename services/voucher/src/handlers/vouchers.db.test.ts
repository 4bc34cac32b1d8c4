import { randomUUID } from "node:crypto";
import { runInContext } from "@tessera/kit/context";
import type { Fault } from "@tessera/kit/fault";
import { sql } from "@tessera/kit/pg/sql";
import { NeedProblemKind } from "@tessera/protos/gen/ticketing/boxoffice/v1/capacity";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import { voucherDatabase } from "../testing/database.ts";
import { newVoucher, place, startVoucher } from "../testing/start-voucher.ts";

const { db } = await voucherDatabase();
const service = await startVoucher(db);
beforeEach(async () => {
  await service.reset();
  await service.prepareEvent();
});

const list = async (filter: object = {}) => {
  const { vouchers } = await service.vouchers.listVouchers({
    ...place,
    page: 1,
    pageSize: 50,
    ordering: [],
    ...filter,
  });
  return vouchers.map(({ fields }) => fields?.code);
};
const facts = async () => {
  const rows = await service.db.many<{ payload: Buffer | null }>(sql`select payload from outbox order by id`);
  return rows.map(({ payload }) => (payload === null ? null : topics.voucherChanged.decode(payload)));
};
const asked = () => service.db.many(sql`select hold, is_released from asked_hold`);
const blocking = { item: 1, blockQuota: true } as const;

describe("a new voucher", () => {
  it("[V3.2, V11.1, V12.1] has a generated code, an id that no record has, and is published", async () => {
    const voucher = await service.createOne();
    expect(voucher).toMatchObject({ redeemed: 0, budgetUsed: "0.00", fields: { maxUsages: 1, priceMode: "none" } });
    expect(voucher.fields?.code).toMatch(/^[A-HKLMNP-Z2-9]{16}$/);
    expect(voucher.id).toBeGreaterThan(1_000_000_000_000);
    expect(await facts()).toEqual([
      {
        ...place,
        id: voucher.id,
        recordedUses: 0,
        revision: expect.any(Number),
        changed: expect.any(Number),
        voucher,
      },
    ]);
    expect(service.held).toEqual([]);
  });

  it("[V11.3, V11.5] keeps its code in upper case, which no other has in any letter case", async () => {
    const voucher = await service.createOne({ code: " grüße-1 " });
    expect(voucher.fields?.code).toBe("GRÜSSE-1");
    await expect(service.createOne({ code: "GRÜßE-1" })).rejects.toMatchObject({
      code: "invalid_vouchers",
      fields: { "0.non_field_errors": ["Another voucher of this event has this code."] },
    });
    await service.prepareEvent({ event: "other" });
    const vouchers = [{ fields: voucher.fields, sent: ["code"] }];
    const { vouchers: others } = await service.vouchers.createVouchers({ ...place, event: "other", vouchers });
    expect(others).toMatchObject([{ fields: { code: "GRÜSSE-1" } }]);
  });

  it("[V3.3, V3.10, V11.6, V11.7] is stored with all others of its request or not at all; each mistake is named", async () => {
    const creating = service.create(
      { code: "FIRST" },
      { item: 77, quota: 78 },
      { code: "first" },
      { blockQuota: true },
    );
    await expect(creating).rejects.toMatchObject({
      fields: {
        "1.item": [expect.any(String)],
        "1.quota": [expect.any(String)],
        "3.non_field_errors": [expect.any(String)],
      },
    });
    await service.create({ code: "TAKEN" });
    await expect(
      service.create({ code: "taken" }, { item: 77 }, { code: "B-CODE" }, { code: "b-code" }),
    ).rejects.toMatchObject({
      fields: {
        "0.non_field_errors": [expect.any(String)],
        "1.item": [expect.any(String)],
        "3.code": [expect.any(String)],
      },
    });
    await expect(service.create({ item: 1, blockQuota: true }, { item: 77 }, { code: "taken" })).rejects.toMatchObject({
      fields: { "1.item": [expect.any(String)], "2.non_field_errors": [expect.any(String)] },
    });
    await expect(service.create({ code: "FIRST" }, { code: "first" })).rejects.toMatchObject({
      fields: { "1.code": ["Another voucher of this request has the same code."] },
    });
    expect(await list()).toEqual(["TAKEN"]);
    expect(await facts()).toHaveLength(1);
  });

  it("[V11.8] is one, whichever of many requests at the same moment brings its code", async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => service.createOne({ code: "SAME CODE" })),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "invalid_vouchers" });
    expect(await list()).toEqual(["SAME CODE"]);
  });
});

describe("many requests of one moment", () => {
  it("[V14.5] are each stored or refused by themselves", async () => {
    const sent = Array.from({ length: 60 }, (_, index) => {
      if (index % 3 === 0) return { code: `CODE ${index % 4}` };
      return index % 3 === 1 ? { item: 77 } : { tag: "good" };
    });
    const outcomes = await Promise.allSettled(sent.map((fields) => service.createOne(fields)));
    const told = outcomes.map((outcome) =>
      outcome.status === "fulfilled" ? "stored" : Object.keys((outcome.reason as Fault).fields ?? {}).join(),
    );
    expect(told.filter((_, index) => index % 3 === 1)).toEqual(Array(20).fill("0.item"));
    expect(told.filter((_, index) => index % 3 === 2)).toEqual(Array(20).fill("stored"));
    const ofCodes = told.filter((_, index) => index % 3 === 0);
    expect(ofCodes.filter((each) => each === "stored")).toHaveLength(4);
    expect(new Set(ofCodes)).toEqual(new Set(["stored", "0.non_field_errors"]));
    const published = await facts();
    expect(published).toHaveLength(24);
    expect(new Set(published.map((fact) => fact?.revision)).size).toBe(24);
    const unknown = Array.from({ length: 3 }, () =>
      service.vouchers.createVouchers({ ...place, event: "nowhere", vouchers: [newVoucher({})] }),
    );
    for (const outcome of await Promise.allSettled(unknown))
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "voucher_event_not_found" } });
  });
});

describe("a repeated request", () => {
  it("[V14.7] has the answer of the first, and asks for no capacity", async () => {
    const requestId = randomUUID();
    const again = <T>(work: () => Promise<T>) => runInContext({ requestId }, work);
    const first = await again(() => service.create(blocking, {}));
    expect(await again(() => service.create(blocking, {}))).toEqual(first);
    const [id = 0] = first.map((voucher) => voucher.id);
    const changed = await again(() => service.update(id, { maxUsages: 3 }));
    expect(await again(() => service.update(id, { maxUsages: 3 }))).toEqual(changed);
    expect(service.held).toHaveLength(2);
    expect(await facts()).toHaveLength(3);
  });

  it("[V14.7] does not stand in its own way while its first attempt holds, which stores nothing any more", async () => {
    let goOn = () => {};
    const waiting = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    service.hold = async ({ hold }) => {
      const others = service.held.filter((each) => each.hold !== hold).map((each) => each.hold);
      if (others.length === 0) await waiting;
      const isFree = others.every((each) => service.released.some((released) => released.hold === each));
      return { problems: isFree ? [] : [{ need: 0, kind: NeedProblemKind.TOO_LITTLE_LEFT, quota: 9 }] };
    };
    const requestId = randomUUID();
    const send = () => runInContext({ requestId }, () => service.createOne(blocking));
    const first = Promise.allSettled([send()]);
    await expect.poll(() => service.held).toHaveLength(1);
    const { fields } = await send();
    goOn();
    expect(await first).toMatchObject([{ status: "fulfilled", value: { fields } }]);
    expect(await list()).toEqual([fields?.code]);
    expect(await asked()).toEqual([]);
  });

  it("[V14.7] of one moment is stored once", async () => {
    const requestId = randomUUID();
    const both = await Promise.all([1, 2].map(() => runInContext({ requestId }, () => service.create({}))));
    expect(both[0]).toEqual(both[1]);
    expect(await list()).toHaveLength(1);
  });
});

describe("capacity", () => {
  it("is held before a voucher is stored, and its fact ends the hold", async () => {
    const [first, second] = await service.create({ ...blocking, maxUsages: 3 }, { quota: 9, blockQuota: true });
    expect(service.held).toMatchObject([
      {
        ...place,
        needs: [
          { voucher: first?.id, item: 1, amount: 3, isChecked: true, basedOn: 0 },
          { voucher: second?.id, quota: 9, amount: 1, basedOn: 0 },
        ],
      },
    ]);
    for (const fact of await facts()) expect(fact?.changed).toBeGreaterThan(0);
    expect(await asked()).toEqual([]);
    expect(service.released).toEqual([]);
  });

  it("[V4.8, V4.12] that is not left is told for each voucher, nothing is stored, and the hold is released", async () => {
    service.hold = async () => ({ problems: [{ need: 1, kind: NeedProblemKind.TOO_LITTLE_LEFT, quota: 9 }] });
    await expect(service.create({}, blocking, blocking)).rejects.toMatchObject({
      fields: { "2.non_field_errors": ["There is not enough left of quota 9 to block it for this voucher."] },
    });
    expect(await list()).toEqual([]);
    expect(service.released.map(({ hold }) => hold)).toEqual(service.held.map(({ hold }) => hold));
    expect(await asked()).toEqual([]);
  });

  it("is released later where boxoffice could not be reached", async () => {
    service.hold = () => Promise.reject(new Error("gone"));
    service.release = () => Promise.reject(new Error("gone, too"));
    await expect(service.createOne(blocking)).rejects.toMatchObject({ name: expect.any(String) });
    expect(await asked()).toMatchObject([{ is_released: true }]);
    service.release = async () => {};
    await service.runJob("release-holds");
    expect(service.released).toHaveLength(1);
    expect(await asked()).toEqual([]);
  });

  it("of a request that was killed is released after a minute, and cannot be confirmed any more", async () => {
    let confirm = () => {};
    const waiting = new Promise<void>((resolve) => {
      confirm = resolve;
    });
    service.hold = async () => {
      await service.db.run(sql`update asked_hold set asked_at = now() - interval '2 minutes'`);
      await waiting;
      return { problems: [] };
    };
    const creating = Promise.allSettled([service.createOne(blocking)]);
    await expect.poll(asked).toHaveLength(1);
    await service.runJob("release-holds");
    confirm();
    expect(await creating).toMatchObject([{ status: "rejected", reason: { code: "hold_lost", kind: "conflict" } }]);
    expect(await list()).toEqual([]);
    expect(service.released.length).toBeGreaterThan(0);
  });

  it("[V12.4, V12.6] is asked for again when a voucher takes more, and not when it takes less", async () => {
    const { id } = await service.createOne({ ...blocking, maxUsages: 2 });
    await service.update(id, { maxUsages: 1 });
    await service.update(id, { tag: "press" });
    expect(service.held).toHaveLength(1);
    await service.update(id, { maxUsages: 5 });
    const basedOn = (await facts()).at(-2)?.changed;
    expect(service.held[1]?.needs).toMatchObject([{ voucher: id, amount: 5, isChecked: true, basedOn }]);
    await service.update(id, { blockQuota: false });
    expect(service.held).toHaveLength(2);
  });
});

describe("[V4.19] boxoffice", () => {
  it("is told of a changed and a deleted voucher that took something, and of no other", async () => {
    const [blocking, other] = await service.create({ quota: 9, blockQuota: true, maxUsages: 2 }, {});
    const [id = 0, free = 0] = [blocking?.id, other?.id];
    await service.update(id, { maxUsages: 1 });
    await service.update(free, { tag: "x" });
    await service.update(id, { blockQuota: false });
    await service.update(id, { tag: "x" });
    await service.update(id, { blockQuota: true });
    await service.vouchers.deleteVoucher({ ...place, id });
    await service.vouchers.deleteVoucher({ ...place, id: free });
    expect(service.told.map(({ voucher }) => [voucher?.fields?.maxUsages, voucher?.fields?.blockQuota])).toEqual([
      [1, true],
      [1, false],
      [undefined, undefined],
    ]);
    const revisions = service.told.map(({ revision, changed }) => [revision, changed]);
    expect(revisions).toEqual(revisions.toSorted((one, two) => (one[0] ?? 0) - (two[0] ?? 0)));
  });

  it("that does not answer delays no change for long, and fails none", async () => {
    const { id } = await service.createOne({ quota: 9, blockQuota: true });
    service.tell = () => new Promise(() => {});
    expect(await service.update(id, { blockQuota: false })).toMatchObject({ fields: { blockQuota: false } });
    expect(service.lines.join()).toContain("boxoffice was not told of a voucher");
  });
});

describe("a seat", () => {
  const seat = "A-1";
  const refused = async (kind: NeedProblemKind, change: () => Promise<unknown>) => {
    service.hold = async ({ needs }) => ({ problems: needs.some((need) => need.seat) ? [{ need: 0, kind }] : [] });
    return expect(change()).rejects.toMatchObject({
      fields: {
        [kind === NeedProblemKind.NO_SUCH_SEAT ? "0.non_field_errors" : "non_field_errors"]: [expect.any(String)],
      },
    });
  };

  it("[V5.9, V5.10] that a position has keeps its voucher from every change but giving it up", async () => {
    const { id } = await service.createOne({ seat });
    await refused(NeedProblemKind.SEAT_TAKEN, () => service.update(id, { tag: "press" }));
    await refused(NeedProblemKind.SEAT_OF_OTHER_ITEM, () => service.update(id, { comment: "x" }));
    const after = await service.update(id, { tag: "press", seat: undefined });
    expect(after.fields).toMatchObject({ tag: "press", seat: undefined });
    expect((await service.update(id, { comment: "x" })).fields).toMatchObject({ comment: "x" });
  });

  it("[V5.11, V5.12, V5.13, V5.14] has its rules in an order", async () => {
    const message = async (fields: object) => {
      const outcome = await service.createOne(fields).catch((error: unknown) => error);
      return (outcome as { fields?: Record<string, string[]> }).fields?.["0.non_field_errors"]?.join();
    };
    service.hold = async () => ({ problems: [{ need: 0, kind: NeedProblemKind.SEAT_OF_OTHER_ITEM }] });
    expect(await message({ seat, quota: 9, maxUsages: 2 })).toContain("not for a quota");
    expect(await message({ seat, item: 1, maxUsages: 2 })).toContain("once only");
    expect(await message({ seat, item: 1 })).toContain("another product");
    service.hold = async () => ({ problems: [{ need: 0, kind: NeedProblemKind.SEAT_TAKEN }] });
    expect(await message({ seat, quota: 9, maxUsages: 2 })).toContain("not available");
    await service.reset();
    await service.prepareEvent({ hasSubevents: true });
    service.hold = async () => ({ problems: [{ need: 0, kind: NeedProblemKind.NO_SUCH_SEAT }] });
    expect(await message({ seat })).toContain("needs a date");
    expect(await message({ seat, subevent: 5, quota: 9 })).toContain("no such seat");
  });

  it("[V11.6] of two vouchers of a batch is refused for the later one, under its code", async () => {
    await expect(service.create({ seat, code: "SAME-1" }, { seat, code: "SAME-1" })).rejects.toMatchObject({
      fields: { "1.code": ["Another voucher of this request is for the same seat."] },
    });
  });
});

describe("the hold of a change", () => {
  it("[V4.16] is confirmed by the state that follows the one it was asked for, or never", async () => {
    const { id } = await service.createOne({ ...blocking, maxUsages: 2 });
    let isFirst = true;
    service.hold = async () => {
      if (isFirst) {
        isFirst = false;
        await service.update(id, { tag: "meanwhile" });
      }
      return { problems: [] };
    };
    await service.update(id, { maxUsages: 5 });
    const [, overtaken, next] = service.held;
    const states = (await facts()).map((fact) => fact?.changed);
    expect([overtaken, next].map((request) => request?.needs[0]?.basedOn)).toEqual(states.slice(0, 2));
    expect(states).toHaveLength(3);
    expect(service.released.map(({ hold }) => hold)).toEqual([overtaken?.hold]);
  });

  it("[V4.16] is over with the deletion of its voucher, which has a later revision", async () => {
    const { id } = await service.createOne(blocking);
    await service.vouchers.deleteVoucher({ ...place, id });
    const [created] = await facts();
    const [deletion] = await service.db.many<{ revision: number }>(
      sql`select (headers ->> 'revision')::bigint as revision from outbox where payload is null`,
    );
    expect(deletion?.revision).toBeGreaterThan(created?.changed ?? 0);
  });
});

describe("a change", () => {
  it("changes the named fields alone, and is published with a later revision", async () => {
    const before = await service.createOne({ tag: "press", value: "5.00", priceMode: "subtract" });
    const after = await service.update(before.id, { value: "7.50" });
    expect(after).toEqual({ ...before, fields: { ...before.fields, value: "7.50" } });
    const [first, second] = await facts();
    expect(second?.revision).toBeGreaterThan(first?.revision ?? 0);
    expect(second?.voucher).toEqual(after);
  });

  it("[V11.5, V10.5] is checked on the whole voucher, whose own code does not count", async () => {
    const { id } = await service.createOne({ code: "CODE-1", item: 2, variation: 21 });
    await service.create({ code: "CODE-2" });
    await expect(service.update(id, { item: 1 })).rejects.toMatchObject({
      fields: { non_field_errors: ["This product has no variations."] },
    });
    await expect(service.update(id, { code: "code-2" })).rejects.toMatchObject({ code: "invalid_voucher" });
    expect((await service.update(id, { code: "code-1" })).fields?.code).toBe("CODE-1");
  });

  it("waits for others at the same moment: none is lost", async () => {
    const { id } = await service.createOne();
    await Promise.all([
      service.update(id, { tag: "a" }),
      service.update(id, { comment: "b" }),
      service.update(id, { maxUsages: 4 }),
    ]);
    const { voucher } = await service.vouchers.getVoucher({ ...place, id });
    expect(voucher?.fields).toMatchObject({ tag: "a", comment: "b", maxUsages: 4 });
  });
});

describe("a deletion", () => {
  it("[V3.7] removes a voucher that was not used, and refuses one that was", async () => {
    const [unused, used] = await service.create({ code: "UNUSED" }, { code: "WAS USED" });
    await service.db.run(sql`update voucher set redeemed = 1 where id = ${used?.id}`);
    await service.vouchers.deleteVoucher({ ...place, id: unused?.id ?? 0 });
    const refused = service.vouchers.deleteVoucher({ ...place, id: used?.id ?? 0 });
    await expect(refused).rejects.toMatchObject({ kind: "forbidden", code: "voucher_used" });
    expect(await list()).toEqual(["WAS USED"]);
    expect((await facts()).at(-1)).toBeNull();
  });
});

describe("a list", () => {
  it("[V2.2, V2.3, V2.7, V2.8, V13.1, V13.2, V13.3, V13.4] has every filter, and orders ties by the newest", async () => {
    await service.create(
      { code: "AAAAA", maxUsages: 2, value: "12.00", priceMode: "set", tag: "Press", item: 1 },
      { code: "BBBBB", blockQuota: true, quota: 9, comment: "for 100% of them_all – Jean‑Luc O’Neill" },
      { code: "CCCCC", allowIgnoreQuota: true, item: 2, variation: 22, validUntil: 1_000_000 },
    );
    await service.db.run(sql`update voucher set redeemed = 2 where code = 'AAAAA'`);
    const found = (filter: object) => list(filter);
    expect(await found({})).toEqual(["AAAAA", "BBBBB", "CCCCC"]);
    expect(await found({ code: "bbbbb" })).toEqual(["BBBBB"]);
    expect(await found({ maxUsages: 2 })).toEqual(["AAAAA"]);
    expect(await found({ redeemed: 0 })).toEqual(["BBBBB", "CCCCC"]);
    expect(await found({ blockQuota: true })).toEqual(["BBBBB"]);
    expect(await found({ allowIgnoreQuota: false })).toEqual(["AAAAA", "BBBBB"]);
    expect(await found({ priceMode: "set" })).toEqual(["AAAAA"]);
    expect(await found({ value: "12" })).toEqual(["AAAAA"]);
    expect(await found({ item: 2 })).toEqual(["CCCCC"]);
    expect(await found({ variation: 22 })).toEqual(["CCCCC"]);
    expect(await found({ quota: 9 })).toEqual(["BBBBB"]);
    expect(await found({ tag: "press" })).toEqual([]);
    expect(await found({ tag: "Press" })).toEqual(["AAAAA"]);
    expect(await found({ active: true })).toEqual(["BBBBB"]);
    expect(await found({ active: false })).toEqual(["AAAAA", "CCCCC"]);
    expect(await found({ search: "PRESS" })).toEqual(["AAAAA"]);
    expect(await found({ search: "100% of them_" })).toEqual(["BBBBB"]);
    expect(await found({ search: "_" })).toEqual(["BBBBB"]);
    for (const search of ["jean-luc", "Jean\u2013Luc\u00a0O'Neill", "all - jean", "oʼneill"])
      expect([search, await found({ search })]).toEqual([search, ["BBBBB"]]);
    expect(await found({ search: "jean luc" })).toEqual([]);
    expect(await found({ ordering: ["-code"] })).toEqual(["CCCCC", "BBBBB", "AAAAA"]);
    expect(await found({ ordering: ["block", "allow"] })).toEqual(["AAAAA", "BBBBB", "CCCCC"]);
    expect(await found({ ordering: ["value"] })).toEqual(["AAAAA", "CCCCC", "BBBBB"]);
    const unknown = service.vouchers.listVouchers({
      ...place,
      page: 1,
      pageSize: 50,
      ordering: [],
      item: 8,
      subevent: 5,
    });
    await expect(unknown).rejects.toMatchObject({
      fields: { item: [expect.any(String)], subevent: [expect.any(String)] },
    });
  });
});

describe("records", () => {
  const apply = async (data: object, more: object = {}) => {
    const record = {
      line: 1,
      kind: "voucher",
      ...place,
      deleted: false,
      data: Buffer.from(JSON.stringify(data)),
      ...more,
    };
    const { rejected } = await service.records.applyRecords({ records: [record] });
    return rejected.flatMap(({ errors }) => errors.map(({ field, messages }) => `${field}: ${messages.join()}`));
  };
  const record = {
    id: 7,
    code: "abc",
    item: 1,
    redeemed: 2,
    max_usages: 1,
    budget_used: "3.50",
    as_of: "2026-11-01T00:00:00Z",
  };

  it("keep ids, codes and uses, and change nothing when they come again", async () => {
    expect(await apply(record)).toEqual([]);
    expect(await apply(record)).toEqual([]);
    const { as_of: _asOf, ...openEnd } = record;
    expect(await apply(openEnd)).toEqual([]);
    expect(await facts()).toMatchObject([
      { id: 7, voucher: { redeemed: 2, budgetUsed: "3.50", fields: { code: "ABC", item: 1 } } },
    ]);
    expect(await apply({ ...record, tag: "new" })).toEqual([]);
    expect(await facts()).toHaveLength(2);
    expect(await apply({ id: 7 }, { deleted: true })).toEqual([]);
    expect((await facts()).at(-1)).toBeNull();
  });

  it("are refused for the id of a voucher that was made here, and for a code that is taken", async () => {
    const { id, fields } = await service.createOne();
    expect(await apply({ ...record, id })).toEqual([expect.stringMatching(/^id: Vouchers with ids from/)]);
    expect(await apply({ ...record, code: fields?.code.toLowerCase() })).toEqual([
      `code: Voucher ${id} has this code.`,
    ]);
  });
});
