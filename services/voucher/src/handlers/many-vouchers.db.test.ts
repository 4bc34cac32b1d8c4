import { type Sql, sql } from "@tessera/kit/pg/sql";
import { beforeAll, describe, expect, it } from "vitest";
import { voucherDatabase } from "../testing/database.ts";
import { addVouchers } from "../testing/many-vouchers.ts";
import { place, startVoucher } from "../testing/start-voucher.ts";

const many = 30_000;

const { db } = await voucherDatabase();
const service = await startVoucher(db);
beforeAll(async () => {
  await service.prepareEvent();
  await addVouchers(service.db, { count: many });
  await addVouchers(service.db, { count: many, event: "other" });
  await service.runJob("merge-search-index");
  await service.db.run(sql`vacuum analyze voucher`);
});
interface Asked {
  readonly page?: number;
  readonly ordering?: readonly string[];
  readonly tag?: string;
  readonly search?: string;
  readonly active?: boolean;
}

const ask = async ({ ordering = [], page = 1, ...filter }: Asked) => {
  const found = await service.vouchers.listVouchers({
    ...place,
    pageSize: 50,
    page,
    ordering: [...ordering],
    ...filter,
  });
  return { count: found.count, ids: found.vouchers.map(({ id }) => id) };
};

const columns = {
  id: sql`voucher.id`,
  code: sql`voucher.code`,
  max_usages: sql`voucher.max_usages`,
  valid_until: sql`voucher.valid_until_at`,
  value: sql`voucher.value`,
};

/** Filters, each with a plain SQL condition that must select the same vouchers. */
const choices: readonly (readonly [Asked, Sql])[] = [
  [{}, sql`true`],
  [{ active: true }, sql`coalesce(voucher.valid_until_at > now(), true)`],
  [{ active: false }, sql`voucher.valid_until_at <= now()`],
  [{ tag: "tag 7" }, sql`voucher.tag = 'tag 7'`],
  [{ search: "for the press" }, sql`voucher.comment = 'for the press'`],
];

describe("pages of an event with many vouchers", () => {
  it.each(Object.keys(columns).flatMap((name) => [name, `-${name}`]))(
    "[V14.2] are parts of one sequence by %s",
    async (ordering) => {
      const by = columns[ordering.replace("-", "") as keyof typeof columns];
      for (const [filter, condition] of choices) {
        const sorted = await idsWhere(
          sql`${condition} order by ${by} ${ordering.startsWith("-") ? sql`desc` : sql`asc`}, voucher.id desc`,
        );
        const last = Math.ceil(sorted.length / 50);
        const middle = Math.ceil(last / 2);
        for (const page of new Set([1, 2, Math.ceil(last / 3), middle, middle + 1, last - 1, last])) {
          if (page < 1 || page > last) continue;
          const { count, ids } = await ask({ ...filter, ordering: [ordering], page });
          expect(count).toBe(sorted.length);
          expect(ids, `page ${page}`).toEqual(sorted.slice((page - 1) * 50, page * 50));
        }
      }
    },
  );

  it("[V14.2] have several orders at once", async () => {
    const sorted = await idsWhere(sql`true order by voucher.value, voucher.max_usages desc, voucher.id desc`);
    expect((await ask({ ordering: ["value", "-max_usages"] })).ids).toEqual(sorted.slice(0, 50));
    expect((await ask({ ordering: ["value", "-max_usages"], page: 0 })).ids).toEqual(sorted.slice(-50));
  });
});

describe("a search among many vouchers", () => {
  it("[V14.3] finds ten thousand, the same on each page", async () => {
    const pages = await Promise.all([1, 2, 199, 200].map((page) => ask({ search: "TAG", page })));
    expect(pages.map(({ count, ids }) => [count, ids.length])).toEqual(pages.map(() => [10_000, 50]));
    const shown = pages.flatMap(({ ids }) => ids);
    expect([...new Set(shown)].sort((a, b) => a - b)).toEqual(shown);
  });

  it("[V14.3] finds what is rare, however old it is, and what was stored a moment ago", async () => {
    const sorted = await idsWhere(sql`voucher.tag = 'tag 7' order by voucher.id`);
    expect(await ask({ search: "TAG 7", tag: "tag 7" })).toEqual({ count: sorted.length, ids: sorted.slice(0, 50) });
    const { code } = await service.db.one<{ code: string }>(
      sql`select voucher.code from voucher where voucher.event = ${place.event} and voucher.id = 1`,
    );
    expect(await ask({ search: code.slice(3, 20).toLowerCase() })).toEqual({ count: 1, ids: [1] });
    const fresh = await service.createOne({ comment: "Straßenfest für Österreich" });
    for (const search of ["straßenFEST", "ÖSTERREICH"]) expect((await ask({ search })).ids).toEqual([fresh.id]);
    await service.vouchers.deleteVoucher({ ...place, id: fresh.id });
  });

  it("[V14.4] finds a short text among the newest alone", async () => {
    await service.db.run(sql`
      update voucher set comment = '%!' where voucher.event = ${place.event} and voucher.id in (1, ${many - 24_999}, ${many})`);
    expect(await ask({ search: "%!" })).toEqual({ count: 2, ids: [many - 24_999, many] });
  });

  it("finds no match that spans two fields", async () => {
    const { id } = await service.createOne({ code: "SPANNED", tag: "both", comment: "one\ntwo" });
    expect((await ask({ search: "both\none" })).ids).toEqual([]);
    expect((await ask({ search: "one\ntwo" })).ids).toEqual([id]);
    await service.vouchers.deleteVoucher({ ...place, id });
  });
});

describe("the count of a list", () => {
  const recount = async () => {
    const { count } = await service.db.one<{ count: number }>(
      sql`select count(*) as count from voucher where voucher.event = ${place.event}`,
    );
    return count;
  };

  it("[V14.1] is right while vouchers come and go, and rows of counts are compacted", async () => {
    const record = (id: number, { deleted = false } = {}) => ({
      line: id,
      kind: "voucher",
      ...place,
      deleted,
      data: Buffer.from(JSON.stringify(deleted ? { id } : { id, code: `RECORD ${id}` })),
    });
    const records = Array.from({ length: 20 }, (_, index) => record(900_000 + index));
    let isOver = false;
    const compacting = (async () => {
      while (!isOver) await service.runJob("compact-counts");
    })();
    await Promise.all([
      ...Array.from({ length: 40 }, () => service.createOne()),
      service.create(...Array.from({ length: 50 }, () => ({}))),
      service.records.applyRecords({ records }),
      service.records.applyRecords({ records }),
      ...Array.from({ length: 10 }, async () => {
        const { id } = await service.createOne();
        await service.vouchers.deleteVoucher({ ...place, id });
      }),
      service.create({ code: "TAKEN" }).catch(() => {}),
      service.create({ code: "TAKEN" }).catch(() => {}),
    ]);
    await service.records.applyRecords({
      records: [
        record(900_001, { deleted: true }),
        record(900_002, { deleted: true }),
        record(900_099, { deleted: true }),
      ],
    });
    isOver = true;
    await compacting;
    expect(await recount()).toBe(many + 40 + 50 + 20 + 1 - 2);
    expect((await ask({})).count).toBe(await recount());
    await service.runJob("compact-counts");
    expect((await ask({})).count).toBe(await recount());
    expect(await service.db.many(sql`select voucher_count.event from voucher_count order by 1`)).toHaveLength(2);
  });
});

async function idsWhere(condition: Sql): Promise<number[]> {
  const rows = await service.db.many<{ id: number }>(sql`
    select voucher.id
      from voucher
     where voucher.event = ${place.event} and ${condition}`);
  return rows.map(({ id }) => id);
}
