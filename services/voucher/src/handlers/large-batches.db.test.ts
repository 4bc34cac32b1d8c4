import { randomUUID } from "node:crypto";
import { setImmediate as turnOfLoop } from "node:timers/promises";
import { runInContext } from "@tessera/kit/context";
import type { VoucherFields } from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { longestTurn } from "@tessera/testkit/longest-turn";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { newVoucher, place, type RunningVoucher, startVoucher } from "../testing/start-voucher.ts";

/** The longest turn of the event loop. */
const mostMs = 50;

/** The limits of a batch. */
const [many, mostBytes] = [10_000, 10 * 1024 * 1024];

let database: TestDatabase;
let service: RunningVoucher;

beforeAll(async () => {
  database = await createTestDatabase([
    { schema: "voucher", migrations: new URL("../../migrations/", import.meta.url) },
  ]);
  service = await startVoucher(database.open("voucher"));
});
beforeEach(async () => {
  await service.reset();
  await service.prepareEvent();
});
afterAll(() => database.drop());

const room = mostBytes / many - 100;

const shapes: readonly (readonly [name: string, (index: number) => Partial<VoucherFields>])[] = [
  ["comments", () => ({ comment: "x".repeat(room), blockQuota: true, item: 1, value: "5.00", priceMode: "set" })],
  ["quotes", () => ({ comment: '"'.repeat(room / 2) })],
  ["characters that are long in UTF-8", () => ({ comment: "\u{1f600}".repeat(room / 4) })],
  ["few long comments", (index) => ({ comment: index < 160 ? '"'.repeat(32_000) : "" })],
  [
    "codes and tags full of quotes",
    (index) => ({ code: `${randomUUID()}${index}`.padEnd(255, '"'), tag: '"'.repeat(250) }),
  ],
];

/** Creates a batch under an idempotency key, so that its answer is stored; says whether the key was used. */
const createAll = async (fieldsOf: (index: number) => Partial<VoucherFields>) => {
  const vouchers = Array.from({ length: many }, (_, index) => newVoucher(fieldsOf(index)));
  await turnOfLoop();
  const create = () => service.vouchers.createVouchers({ ...place, vouchers }, { timeoutMs: 60_000 });
  return runInContext({ requestId: randomUUID() }, create).then(
    ({ vouchers: created }) => created.length,
    (fault: { readonly code: string }) => fault.code,
  );
};

it.each(shapes)(
  "[V3.13, S4.25] a batch with the most %s stops no process for long",
  { timeout: 120_000 },
  async (_name, fieldsOf) => {
    const created: unknown[] = [];
    const tookMs = await longestTurn(async () => created.push(await createAll(fieldsOf)), { enoughMs: mostMs });
    expect(new Set(created)).toEqual(new Set([many]));
    expect(tookMs).toBeLessThan(mostMs);
  },
);

it("[V3.13, S4.25] a batch that is wrong everywhere stops no process for long", async () => {
  const refused: unknown[] = [];
  const work = async () => refused.push(await createAll(() => ({ item: 99, quota: 98, comment: '"'.repeat(400) })));
  expect(await longestTurn(work, { enoughMs: mostMs })).toBeLessThan(mostMs);
  expect(new Set(refused)).toEqual(new Set(["invalid_vouchers"]));
});
