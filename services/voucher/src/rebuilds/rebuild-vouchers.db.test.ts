import { untilWaiting } from "@tessera/testkit/until-waiting";
import { beforeEach, expect, it } from "vitest";
import { lockEvent } from "../store/events.ts";
import { nextRevisions } from "../store/stored-vouchers.ts";
import { voucherDatabase } from "../testing/database.ts";
import { place, startVoucher } from "../testing/start-voucher.ts";
import { rebuildVouchers } from "./rebuild-vouchers.ts";

const { db } = await voucherDatabase();
const service = await startVoucher(db);
beforeEach(async () => {
  await service.reset();
  await service.prepareEvent();
});

it("waits for a voucher that is being created, which has drawn its revision and is not stored yet", async () => {
  const { drawing, revision } = await service.db.transaction(async (tx) => {
    await lockEvent(tx, place);
    const [revision = 0] = await nextRevisions(tx, 1);
    const drawing = service.db.transaction(rebuildVouchers.drawCutoff);
    await untilWaiting(service.db);
    return { drawing: { ended: drawing }, revision };
  });
  expect(await drawing.ended).toBeGreaterThan(revision);
});
