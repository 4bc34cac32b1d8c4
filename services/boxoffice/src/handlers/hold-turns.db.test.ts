import { sql } from "@tessera/kit/pg/sql";
import { expect, it } from "vitest";
import { emptyOffice } from "../testing/empty-office.ts";
import { festival, sample } from "../testing/records.ts";
import { need, startLedger } from "../testing/vouchers.ts";

const office = emptyOffice();

it("[V12.8] holds of one organizer that wait for each other delay no hold of another organizer", async () => {
  const rival = [sample.organizer({ slug: "rival" }), sample.event(), sample.item()];
  expect(await office.apply(...festival, sample.quota({ size: 100 }))).toEqual({});
  expect(await office.apply(...rival.map((each) => ({ ...each, organizer: "rival" })))).toEqual({});
  const ledger = await startLedger(office.db);
  let flood: Promise<unknown>[] = [];
  await office.db.transaction(async (tx) => {
    await tx.run(sql`select pg_advisory_xact_lock(hashtextextended('boxoffice holds org/fest', 0))`);
    flood = Array.from({ length: 30 }, (_, index) => ledger.hold([need(index + 1)]));
    expect(await ledger.hold([], { organizer: "rival" })).toEqual(expect.any(String));
  });
  const isHeld = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;
  expect(await Promise.all(flood)).toEqual(flood.map(() => isHeld));
});
