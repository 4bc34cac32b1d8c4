import { randomUUID } from "node:crypto";
import { Fault } from "@tessera/kit/fault";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import { topics } from "@tessera/protos/topics";
import { eventually } from "@tessera/testkit/eventually";
import { passTime, startTestWorkers } from "@tessera/testkit/finish-work";
import { beforeEach, describe, expect, it } from "vitest";
import { makingId } from "../make-work.ts";
import { offlineSalesDatabase } from "../testing/database.ts";
import { place, startOfflineSales } from "../testing/start-offline-sales.ts";

const { db } = await offlineSalesDatabase();
const service = await startOfflineSales(db);
let job: string;
beforeEach(async () => {
  await service.reset();
  await service.prepareEvent();
  job = randomUUID();
  await service.enqueue(job);
});

const state = async () => (await service.batches.findCreation({ ...place, job })).state;
const again = async () => {
  await passTime(db);
  await service.work();
};
const stateOfWork = async () => {
  const { state: found } = await db.one<{ state: string }>(
    sql`select work.state from work where starts_with(work.id, ${makingId({ ...place, job })})`,
  );
  return found;
};
const batches = () => db.many<{ orders: string[] }>(sql`select batch.orders from batch`);

describe("the job that makes a batch", () => {
  it("[O12.5] makes it once when the answer of boxoffice is lost", async () => {
    service.peers.sell = (request) => {
      service.sellOnce(request);
      return Promise.reject(new Fault("timeout", "peer_timeout", "no answer in time"));
    };
    await service.work();
    expect(await state()).toBe(JobState.WAITING);
    service.peers.sell = undefined;
    await again();
    expect(await state()).toBe(JobState.SUCCEEDED);
    expect(await batches()).toEqual([{ orders: ["CODE1", "CODE2", "CODE3", "CODE4", "CODE5"] }]);
    expect(service.peers.sold.size).toBe(1);
  });

  it("[O12.5] makes it once when its worker is killed after the sale", async () => {
    // A killed worker leaves a claimed row behind, and the sale.
    service.sellOnce(soldAs(job));
    await db.run(sql`
      update work
         set state = 'running', turn = null, token = work.token + 1, tries = 1, due_at = now() - interval '1 second'`);
    await service.work();
    await again();
    expect(await state()).toBe(JobState.SUCCEEDED);
    expect(await batches()).toHaveLength(1);
    expect([...service.peers.sold.keys()]).toEqual([job]);
  });

  it("[O12.5] makes it once when its transaction is undone at the end", async () => {
    await db.run(sql`alter table batch add constraint refused check (false) not valid`);
    await service.work();
    expect(await batches()).toEqual([]);
    await db.run(sql`alter table batch drop constraint refused`);
    await again();
    expect(await batches()).toHaveLength(1);
    expect(service.peers.sold.size).toBe(1);
  });

  it("[O12.5] makes it once when the last try finds that its lease was lost and another worker has made it", async () => {
    await db.run(sql`update work set tries = 24`);
    service.peers.sell = async (request) => {
      service.peers.sell = undefined;
      const tickets = [...service.sellOnce(request)];
      // The process is frozen for longer than its lease.
      await db.run(sql`update work set state = 'waiting', turn = 1, due_at = null`);
      await eventually(async () => (await batches()).length > 0);
      return { problems: [], tickets };
    };
    const lines: string[] = [];
    const log = createLog({ service: "test", destination: { write: (line) => void lines.push(line) } });
    const workers = startTestWorkers(db, service.workers, { log });
    await eventually(async () => lines.some((line) => /a lease was lost|work has failed/.test(line)));
    await workers.stop();
    expect(service.peers.canceled).toEqual([]);
    expect(await state()).toBe(JobState.SUCCEEDED);
    expect(await batches()).toHaveLength(1);
  });

  it("[O12.7] tries again while other sales hold the quota, then cancels what may have been sold and fails", async () => {
    service.peers.sell = () => Promise.reject(new Fault("conflict", "concurrent_change", "busy"));
    await service.work();
    expect(await state()).toBe(JobState.WAITING);
    expect(service.peers.canceled).toEqual([]);
    await db.run(sql`update work set tries = 24`);
    await again();
    expect(service.peers.canceled).toEqual([{ organizer: place.organizer, event: place.event, sale: job }]);
    expect(await service.batches.findCreation({ ...place, job })).toMatchObject({
      state: JobState.FAILED,
      message: "Other sales of the same tickets took too long. Create the batch again later.",
    });
    expect(await batches()).toEqual([]);
  });

  it("[O12.7] cancels what was sold where gates cannot be told of it, and fails", async () => {
    service.peers.isCaughtUp = false;
    await db.run(sql`update work set tries = 24`);
    await service.work();
    expect(service.peers.canceled).toEqual([{ organizer: place.organizer, event: place.event, sale: job }]);
    expect(await service.batches.findCreation({ ...place, job })).toMatchObject({
      state: JobState.FAILED,
      message: "Gates could not be told of the tickets. Create the batch again later.",
    });
    expect(await batches()).toEqual([]);
  });

  it("[O10.5, O12.7] waits for an event that a rebuild has left out, and cancels what was sold if it stays away", async () => {
    await service.sweep(topics.eventChanged, 1000);
    await service.work();
    expect(await stateOfWork()).toBe("waiting");
    await service.prepareEvent();
    await again();
    expect(await state()).toBe(JobState.SUCCEEDED);
    expect(await batches()).toHaveLength(1);
    expect(service.peers.sold.size).toBe(1);

    job = randomUUID();
    await service.enqueue(job);
    await service.sweep(topics.eventChanged, 2000);
    await db.run(sql`update work set tries = 24 where work.state = 'waiting'`);
    await service.work();
    expect(service.peers.canceled).toEqual([{ organizer: place.organizer, event: place.event, sale: job }]);
    expect(await stateOfWork()).toBe("failed");
  });
});

it("[O12.5] makes no batch of a sale that an earlier try has canceled before it was killed", async () => {
  const tickets = [...service.sellOnce(soldAs(job))];
  service.peers.sell = async () => ({ problems: [], tickets, canceled: true });
  await service.work();
  expect(await state()).toBe(JobState.FAILED);
  expect(await batches()).toEqual([]);
});

/** The request of the sale of a job. */
function soldAs(sale: string) {
  return {
    ...place,
    sale,
    ...{ item: 1, salesChannel: "web", testmode: false, amount: 5, onlyCheck: false },
  };
}
