import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { VoucherFields } from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";
import { Sales, VoucherShop } from "@tessera/protos/services";
import type { Topic } from "@tessera/protos/topic";
import { topics } from "@tessera/protos/topics";
import type { TestDatabase } from "@tessera/testkit/database";
import { expect } from "vitest";
import { place, type SentRecord, sendRecords } from "./send-records.ts";
import { blocking, prepareEvent, startBoth } from "./voucher-and-boxoffice.ts";

/** The size of the only quota. */
export const size = 7;

/** The id of the voucher that records bring. */
export const importedId = 7;

/** Moments: of old orders, and of the earliest record. */
export const [longBefore, earliest] = [0, 1];
export const dateOf = { [longBefore]: "2026-01-10T10:00:00Z", [earliest]: "2026-06-01T00:00:00Z" };

export const zero: VoucherFields = { ...blocking, item: 1 };

/** Whether a request was not refused for lack of room; undefined: its voucher is used more often than it may be. */
export async function isDone(request: Promise<unknown>): Promise<boolean | undefined> {
  try {
    await request;
    return true;
  } catch (error) {
    const said = JSON.stringify((error as { fields?: object }).fields);
    if (said.includes("cannot be less than that")) return undefined;
    expect(said).toContain("not enough left");
    return false;
  }
}

export const all = { limit: 10_000 };

/** Starts both services, with a quota for one product. Facts pass when they are told to. */
export async function startPlaces(database: TestDatabase) {
  const both = await startBoth(database);
  const parts = { ...both, sales: both.boxoffice.connect(Sales), shop: both.voucher.connect(VoucherShop) };

  /** Takes the next facts of a topic, in their order, and delivers each as one that waited. */
  async function pass<F>(topic: Topic<F>, { limit }: { readonly limit: number }): Promise<void> {
    const isOfVoucher = topic.name === topics.voucherChanged.name;
    const from: Queryable = isOfVoucher ? parts.dbs.voucher : parts.dbs.boxoffice;
    const to = isOfVoucher ? parts.boxoffice : parts.voucher;
    const rows = await from.many<{
      id: number;
      key: string;
      payload: Buffer | null;
      revision: number | null;
      at: number;
    }>(sql`
      delete from outbox
       where outbox.id in (select waiting.id from outbox as waiting where waiting.topic = ${topic.name} order by waiting.id limit ${limit})
         and outbox.topic = ${topic.name}
      returning outbox.id, outbox.key, outbox.payload, (outbox.headers ->> 'revision')::bigint as revision, outbox.created_at as at`);
    for (const { key, payload, revision, at } of rows.toSorted((one, other) => one.id - other.id)) {
      const deletion = revision === null ? {} : { deletedAt: revision };
      await to.deliver(topic, [payload === null ? key : topic.decode(payload)], { ...deletion, at });
    }
  }

  return {
    ...parts,
    pass,
    async passAll(): Promise<void> {
      // A state that voucher counts is told to boxoffice.
      await pass(topics.voucherUseChanged, all);
      await pass(topics.voucherChanged, all);
    },
    empty: () => prepareEvent(both, [{ id: 1, size, items: [1] }]),
    send: (owner: "boxoffice" | "voucher", ...sent: SentRecord[]) => sendRecords(both.records[owner], ...sent),
    update: (id: number, fields: Partial<VoucherFields>, ...updateMask: string[]) =>
      both.vouchers.updateVoucher({ ...place, id, fields: { ...zero, ...fields }, updateMask }),
    /** Counts what new vouchers can take. */
    async countLeft(): Promise<number> {
      for (let left = 0; ; left += 1) {
        const vouchers = [{ fields: { ...zero, maxUsages: left + 1 }, sent: ["item", "max_usages", "block_quota"] }];
        const creating = both.vouchers.createVouchers({ ...place, vouchers });
        if (!(await isDone(creating))) return left;
        const id = (await creating).vouchers[0]?.id ?? 0;
        await both.vouchers.deleteVoucher({ ...place, id });
      }
    },
    /** How often each voucher was used, as boxoffice counts. */
    usedInLedger: () =>
      both.dbs.boxoffice.many(sql`
        select voucher_claim.id, greatest(voucher_claim.recorded_uses + voucher_claim.uses, 0) as used
          from voucher_claim
         where voucher_claim.max_usages is not null
         order by voucher_claim.id`),
    /** The same, as voucher says. */
    redeemed: () =>
      both.dbs.voucher.many(sql`select voucher.id, voucher.redeemed as used from voucher order by voucher.id`),
  };
}

export type Places = Awaited<ReturnType<typeof startPlaces>>;
