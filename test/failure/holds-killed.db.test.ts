import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { Client } from "@tessera/kit/rpc";
import type { Voucher, VoucherFields } from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";
import type { Vouchers } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import type { TestDatabase } from "@tessera/testkit/database";
import { mortalDatabase, startLife } from "@tessera/testkit/mortal-database";
import { afterAll, beforeAll, expect, it } from "vitest";
import { report } from "./seeded.ts";
import { place } from "./send-records.ts";
import { blocking, createDatabase, prepareEvent, startBoth } from "./voucher-and-boxoffice.ts";

const quotas = [
  { id: 1, size: 6, items: [1] },
  { id: 2, size: 3, items: [2] },
];

let database: TestDatabase;
let parts: Awaited<ReturnType<typeof startParts>>;

beforeAll(async () => {
  database = await createDatabase();
  parts = await startParts();
});
afterAll(() => database?.drop());

/** Voucher and boxoffice, each with a life of its own. */
async function startParts() {
  const lives = { boxoffice: startLife(), voucher: startLife() };
  /** A process may die while a call is under way: before it leaves, and before its answer arrives. */
  async function call<T>(send: () => Promise<T>): Promise<T> {
    lives.voucher.step();
    lives.boxoffice.step();
    const answer = await send();
    lives.boxoffice.step();
    lives.voucher.step();
    return answer;
  }
  const both = await startBoth(database, {
    dbOf: (owner, db) => mortalDatabase(db, lives[owner]),
    capacityOf: (ledger) => ({
      holdCapacity: (request) => call(() => ledger.holdCapacity(request)),
      releaseCapacity: (request) => call(() => ledger.releaseCapacity(request)),
      tellVouchers: (request) => call(() => ledger.tellVouchers(request)),
    }),
  });
  return { ...both, lives };
}

/** What a client has sent, and what it was answered. */
interface Evidence {
  readonly created: Voucher[];
  readonly toDelete: Set<number>;
}

type Step = (vouchers: Client<typeof Vouchers>, evidence: Evidence) => Promise<unknown>;

const create =
  (...wanted: Partial<VoucherFields>[]): Step =>
  async (vouchers, { created }) => {
    const sent = wanted.map((fields) => ({
      fields: { ...blocking, ...fields },
      sent: ["item", "max_usages", "block_quota"],
    }));
    created.push(...(await vouchers.createVouchers({ ...place, vouchers: sent })).vouchers);
  };

const update =
  (at: number, fields: Partial<VoucherFields>, updateMask: string[]): Step =>
  async (vouchers, { created }) => {
    const id = created[at]?.id;
    if (id === undefined) return;
    await vouchers.updateVoucher({ ...place, id, fields: { ...blocking, ...fields }, updateMask });
  };

const remove =
  (at: number): Step =>
  async (vouchers, { created, toDelete }) => {
    const id = created[at]?.id;
    if (id === undefined) return;
    toDelete.add(id);
    await vouchers.deleteVoucher({ ...place, id });
  };

/** Everything that takes capacity, moves it or gives it back; what was not created is not changed. */
const course: readonly Step[] = [
  create({ item: 1, maxUsages: 2 }, { item: 2 }),
  update(0, { maxUsages: 5 }, ["max_usages"]),
  update(0, { maxUsages: 1 }, ["max_usages"]),
  update(0, { item: undefined, quota: 2 }, ["item", "quota"]),
  remove(1),
  create({ item: 1, maxUsages: 4 }),
];

/** Does one step after the other. A process that dies is started again before the next one. Returns whether anyone has died. */
async function live(
  victim: "boxoffice" | "voucher",
  { endsAt, evidence, afterEach }: { endsAt: number; evidence: Evidence; afterEach: () => Promise<void> },
): Promise<boolean> {
  const { lives, vouchers } = parts;
  lives[victim].begin({ endsAt });
  let hasDied = false;
  for (const step of course) {
    await step(vouchers, evidence).catch(() => {});
    if (lives[victim].isOver()) {
      hasDied = true;
      lives[victim].begin();
    }
    await afterEach();
  }
  lives[victim].begin();
  return hasDied;
}

interface WaitingFact {
  readonly key: string;
  readonly payload: Buffer | null;
  readonly revision: number | null;
}

/** Delivers the facts of voucher; compacted: only the last of each. */
async function deliverFacts(db: Db, { isCompacted }: { isCompacted: boolean }): Promise<void> {
  const rows = await db.many<WaitingFact & { readonly id: number }>(sql`
    delete from outbox
     where outbox.topic = ${topics.voucherChanged.name}
    returning outbox.id, outbox.key, outbox.payload, (outbox.headers ->> 'revision')::bigint as revision`);
  const facts = rows.toSorted((one, other) => one.id - other.id);
  const last = new Map(facts.map((fact) => [fact.key, fact]));
  for (const fact of isCompacted ? facts.filter((each) => last.get(each.key) === each) : facts) {
    const { key, payload, revision } = fact;
    // A consumer acts in one transaction, or not at all, and is tested elsewhere.
    await parts.lives.boxoffice.spare(() =>
      parts.boxoffice.deliver(
        topics.voucherChanged,
        [payload === null ? key : topics.voucherChanged.decode(payload)],
        revision === null ? {} : { deletedAt: revision },
      ),
    );
  }
}

/** What is wrong when everything has come to rest. */
async function findWrong({ created, toDelete }: Evidence): Promise<string[]> {
  const { boxoffice, voucher } = parts.dbs;
  const owned = await voucher.many<{ id: number }>(sql`
    select voucher.id, voucher.item, voucher.quota,
           case when voucher.block_quota then voucher.max_usages else 0 end as amount
      from voucher
     order by voucher.id`);
  const kept = await boxoffice.many(sql`
    select voucher_claim.id, voucher_claim.item, voucher_claim.quota,
           case when voucher_claim.blocks then voucher_claim.max_usages else 0 end as amount
      from voucher_claim
     order by voucher_claim.id`);
  const { held } = await boxoffice.one<{ held: number }>(sql`select count(*) as held from held_claim`);
  const { asked } = await voucher.one<{ asked: number }>(sql`select count(*) as asked from asked_hold`);
  const taken = await boxoffice.many<{ quota: number; amount: number }>(sql`
    select coalesce(voucher_claim.quota, voucher_claim.item) as quota, sum(voucher_claim.max_usages)::bigint as amount
      from voucher_claim
     where voucher_claim.blocks
     group by 1`);
  const over = taken.filter(({ quota, amount }) => amount > (quotas.find(({ id }) => id === quota)?.size ?? 0));
  const there = new Set(owned.map(({ id }) => id));
  const lost = created.filter(({ id }) => !there.has(id) && !toDelete.has(id));
  const isEqual = JSON.stringify(owned) === JSON.stringify(kept);
  return [
    ...(isEqual ? [] : [`vouchers take ${JSON.stringify(owned)}, and the ledger has ${JSON.stringify(kept)}`]),
    ...(held > 0 ? [`${held} claims are still held`] : []),
    ...(asked > 0 ? [`${asked} holds are still remembered`] : []),
    ...over.map(({ quota, amount }) => `${amount} are taken of quota ${quota}`),
    ...lost.map(({ id }) => `voucher ${id} was answered, and is lost`),
  ];
}

it.each([
  ["voucher", "facts arrive at once", false],
  ["voucher", "only the last fact of each voucher arrives", true],
  ["boxoffice", "facts arrive at once", false],
  ["boxoffice", "only the last fact of each voucher arrives", true],
] as const)(
  "[V4.13, V4.16] whichever step %s is killed at, nothing stays held and nothing is lost: %s",
  {
    timeout: 120_000,
  },
  async (victim, _how, isCompacted) => {
    const { dbs, voucher } = parts;
    const wrong: string[] = [];
    let deaths = 0;
    for (let endsAt = 1; ; endsAt += 1) {
      await prepareEvent(parts, quotas);
      const evidence: Evidence = { created: [], toDelete: new Set() };
      const deliver = () => deliverFacts(dbs.voucher, { isCompacted });
      const hasDied = await live(victim, { endsAt, evidence, afterEach: isCompacted ? async () => {} : deliver });
      // It is not known how long a process was dead.
      await dbs.voucher.run(sql`update asked_hold set asked_at = asked_at - interval '2 minutes'`);
      await voucher.runJob("release-holds");
      await deliver();
      wrong.push(...(await findWrong(evidence)).map((what) => `killed before step ${endsAt}: ${what}`));
      if (!hasDied) break;
      deaths += 1;
    }
    report({ victim, isCompacted, deaths });
    expect(wrong).toEqual([]);
    expect(deaths).toBeGreaterThan(victim === "voucher" ? 50 : 15);
  },
);
