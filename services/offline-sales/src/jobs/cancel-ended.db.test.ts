import { randomUUID } from "node:crypto";
import { Fault } from "@tessera/kit/fault";
import { enqueueWork } from "@tessera/kit/jobs/work";
import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { databaseTime } from "@tessera/testkit/database-time";
import { finishWork, passTime } from "@tessera/testkit/finish-work";
import { beforeEach, describe, expect, it } from "vitest";
import { cancelEnded } from "../cancel-work.ts";
import { offlineSalesDatabase } from "../testing/database.ts";
import { place, startOfflineSales } from "../testing/start-offline-sales.ts";
import { cancelEndedWithin } from "./cancel-ended.ts";

const { db } = await offlineSalesDatabase();
const service = await startOfflineSales(db);
let job: string;
beforeEach(async () => {
  await service.reset();
  await service.prepareEvent();
  job = randomUUID();
  await service.enqueue(job);
});

const batches = () => db.many(sql`select batch.id from batch`);
const canceled = () => [{ ...place, sale: job }];

/** The fact of a deletion arrives, and that of the event that got the name. */
async function replaceEvent(deletedAt: number): Promise<void> {
  await service.deliver(topics.eventChanged, [`${place.organizer}/${place.event}/`], { at: deletedAt });
  await service.prepareEvent();
}

describe("of a job that ends with its event", () => {
  it("[O12.8] what it has sold in the next event with the name is canceled", async () => {
    service.peers.sell = (request) => {
      service.sellOnce(request);
      return Promise.reject(new Fault("timeout", "deadline_exceeded", "no answer in time"));
    };
    const deletedAt = await databaseTime(db);
    await service.work();
    expect(service.peers.sold.has(job)).toBe(true);
    service.peers.sell = undefined;
    await replaceEvent(deletedAt);
    await passTime(db);
    await service.work();
    expect(await batches()).toEqual([]);
    expect(service.peers.canceled).toEqual(canceled());
  });

  it("[O12.8] what it has sold there is canceled with its batch, too", async () => {
    const deletedAt = await databaseTime(db);
    await service.work();
    expect(await batches()).toHaveLength(1);
    await replaceEvent(deletedAt);
    await service.work();
    expect(await batches()).toEqual([]);
    expect(service.peers.canceled).toEqual(canceled());
  });

  it("[O12.8] a sale whose call is still on the way when there is no such event is canceled after it", async () => {
    const asked: string[] = [];
    const sales = {
      sellTickets: () => Promise.reject(new Error("nothing is sold here")),
      async cancelSale({ sale }: { readonly sale: string }) {
        asked.push(sale);
        if (asked.length === 1) throw new Fault("not_found", "sale_not_found", "the event has no such sale");
        return { canceled: 5 };
      },
    };
    await db.run(sql`delete from work`);
    const payload = { ...place, sales: [job, "another"] };
    await enqueueWork(db, cancelEnded, [{ id: "deletion", owner: place.organizer, payload }]);
    await finishWork(db, [cancelEndedWithin(50)({ sales })]);
    expect(asked).toEqual([job, job, "another"]);
  });
});
