import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { untilWaiting } from "@tessera/testkit/until-waiting";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { lockEvent } from "../store/events.ts";
import { nextRevisions } from "../store/vouchers.ts";
import { place, type RunningVoucher, startVoucher } from "../testing/start-voucher.ts";
import { rebuildVouchers } from "./rebuild-vouchers.ts";

let database: TestDatabase;
let service: RunningVoucher;

beforeAll(async () => {
  database = await createTestDatabase([
    { schema: "voucher", migrations: new URL("../../migrations/", import.meta.url) },
  ]);
  service = await startVoucher(database.open("voucher"));
});
afterAll(() => database.drop());
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
