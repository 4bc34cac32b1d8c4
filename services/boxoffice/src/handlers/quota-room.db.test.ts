import { randomUUID } from "node:crypto";
import type { Db, Tx } from "@tessera/kit/pg/database";
import type { Sql } from "@tessera/kit/pg/sql";
import { NeedProblemKind } from "@tessera/protos/gen/ticketing/boxoffice/v1/capacity";
import { expect, it } from "vitest";
import { emptyOffice } from "../testing/empty-office.ts";
import { festival, position, sample } from "../testing/records.ts";
import { need, startLedger, voucher } from "../testing/vouchers.ts";
import { findOverbooked } from "./find-overbooked.ts";
import { holdCapacity, shareHolds } from "./hold-capacity.ts";

const office = emptyOffice();

it("[V4.10] a hold finds no room that a voucher gives to its order while it looks", async () => {
  expect(await office.apply(...festival, sample.quota({ size: 1 }))).toEqual({});
  const ledger = await startLedger(office.db);
  await ledger.tell(voucher(1));
  let used = 0;
  const useVoucher = async () => {
    used += 1;
    expect(await office.apply(sample.order({ positions: [position()] }))).toEqual({});
    await ledger.tell(voucher(1, { redeemed: 1, revision: 2 }));
  };
  /** A transaction that is slow between the reads of positions and of vouchers, in any order. */
  const interrupted = (tx: Tx): Tx => ({
    ...tx,
    async many<Row>(statement: Sql) {
      const rows = await tx.many<Row>(statement);
      if (used === 0 && /taken_capacity|voucher_claim/.test(statement.text)) await useVoucher();
      return rows;
    },
  });
  const slow: Db = { ...office.db, transaction: (act) => office.db.transaction((tx) => act(interrupted(tx))) };
  const request = { organizer: "org", event: "fest", hold: randomUUID(), needs: [need(3)] };
  expect(await holdCapacity(request, { db: slow, holdTurns: shareHolds() })).toMatchObject({
    problems: [{ need: 0, kind: NeedProblemKind.TOO_LITTLE_LEFT, quota: 1 }],
  });
  expect(used).toBe(1);
  expect(await findOverbooked({ events: [{ organizer: "org", event: "fest" }] }, { db: office.db })).toEqual({
    quotas: [],
  });
});
