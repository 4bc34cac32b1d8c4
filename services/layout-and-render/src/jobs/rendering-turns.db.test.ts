import type { Files } from "@tessera/kit/files/files";
import { sql } from "@tessera/kit/pg/sql";
import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import { startTestWorkers } from "@tessera/testkit/finish-work";
import { describe, expect, it } from "vitest";
import { part, renderJobs } from "../testing/render-jobs.ts";
import { place } from "../testing/start-layout.ts";
import { allTickets } from "../testing/ticket-answer.ts";

const jobs = renderJobs();
const { start, stored, workers } = jobs;

describe("taking turns", () => {
  it("[L53.1] a single ticket waits for no thousand files of another organizer, nor of its own", async () => {
    const many = Array.from({ length: 200 }, (_, index) => part(index + 1));
    for (let job = 0; job < 1000; job += 1) await start(job < 40 ? many : [part(job)], "large");
    for (let job = 0; job < 20; job += 1) await start(many);
    let asked = 0;
    const readTicketData: typeof allTickets.readTicketData = (request) => {
      asked += request.positions.length;
      return allTickets.readTicketData(request);
    };
    const running = startTestWorkers(jobs.db, workers({ ticketData: { readTicketData } }));
    try {
      await expect.poll(stored).not.toEqual([]);
      for (const organizer of [place.organizer, "third"]) {
        const before = asked;
        const job = await start([part(1)], organizer);
        await expect.poll(async () => (await job.find()).state, { interval: 20 }).toBe(JobState.SUCCEEDED);
        // Of 13,000 waiting jobs only those whose turn it was.
        expect(asked - before).toBeLessThan(2000);
      }
    } finally {
      await running.stop();
    }
  });

  it("[L53.2] a job waits for no backgrounds of another organizer that cannot be had", async () => {
    await jobs.service.prepareEvent({ organizer: "slow" });
    const { id } = await jobs.service.create({}, { ...place, organizer: "slow" });
    const name = "cd".repeat(20);
    await jobs.db.run(sql`
      update layout set background = ${name}, background_size = 1, background_sha256 = 'x' where id = ${id}`);
    const held = Promise.withResolvers<undefined>();
    const holding: Files = {
      ...jobs.files,
      get: (...given) => (given[0].includes(name) ? held.promise : jobs.files.get(...given)),
    };
    const ofOne = (count: number) => Array.from({ length: count }, () => part(1, { overrideLayout: id }));
    for (const count of [1, 1, 1, 1, 1, 20, 20, 20]) await start(ofOne(count), "slow");
    const running = startTestWorkers(jobs.db, workers({ files: holding }));
    try {
      const running = () => jobs.db.many(sql`select from work where work.state = 'running'`);
      await expect.poll(async () => (await running()).length).toBeGreaterThanOrEqual(5);
      const others = [await start([part(1)]), await start(Array.from({ length: 20 }, () => part(1)))];
      for (const other of others) await expect.poll(async () => (await other.find()).state).toBe(JobState.SUCCEEDED);
    } finally {
      held.resolve(undefined);
      await running.stop();
    }
  });
});
