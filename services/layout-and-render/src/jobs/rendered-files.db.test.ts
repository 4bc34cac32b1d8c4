import { systemClock } from "@tessera/kit/clock";
import type { Files } from "@tessera/kit/files/files";
import { removeNotedFiles } from "@tessera/kit/jobs/files-to-remove";
import { sql } from "@tessera/kit/pg/sql";
import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import { topics } from "@tessera/protos/topics";
import { databaseTime } from "@tessera/testkit/database-time";
import { collect } from "@tessera/testkit/files-contract";
import { passTime, startTestWorkers } from "@tessera/testkit/finish-work";
import { describe, expect, it } from "vitest";
import { drawKey, renderId } from "../printing/render-work.ts";
import { part, renderJobs } from "../testing/render-jobs.ts";
import { place } from "../testing/start-layout.ts";
import { removeRenders } from "./remove-renders.ts";

const jobs = renderJobs();
const { finish, start, stored, workers } = jobs;

/** A file store that answers a job only after its lease has expired and its data was erased. */
const reachedLate = (id: string): Files => ({
  ...jobs.files,
  async put(...given) {
    await jobs.db.run(
      sql`update work set state = 'expired', payload = null, due_at = now() + interval '1 hour' where id = ${id}`,
    );
    return jobs.files.put(...given);
  },
});

describe("a process that was frozen", () => {
  it("[D3.10] leaves no file of a job that was erased meanwhile", async () => {
    const job = await start([part(1)]);
    await finish({ files: reachedLate(renderId(job)) });
    await expect(job.find()).rejects.toMatchObject({ code: "render_not_found" });
    expect(await stored()).toEqual([]);
  });
});

describe("rendered files", () => {
  it("[L52.3] of an organizer count until they expire: beyond the limit it can ask for no more, and others can", async () => {
    await start([part(1)]);
    await finish();
    const [file] = await collect(jobs.files.list("renders/"));
    expect(await jobs.db.many(sql`select bytes from work`)).toEqual([{ bytes: file?.size }]);
    await jobs.db.run(sql`update work set bytes = 2147483649`);
    await expect(start([part(1)])).rejects.toMatchObject({ kind: "exhausted", code: "too_many_files" });
    await start([part(1)], "other");
    await finish();
    expect(await stored()).toHaveLength(2);
    await jobs.db.run(sql`update work set state = 'expired', result = null where bytes > 2147483648`);
    await start([part(1)]);
  });

  it("[L52.1] of a worker that lost its lease are put beside, and go", async () => {
    const job = await start([part(1)]);
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let puts = 0;
    const slowAtFirst: Files = {
      ...jobs.files,
      async put(...given) {
        const put = await jobs.files.put(...given);
        puts += 1;
        if (puts === 1) await released;
        return put;
      },
    };
    const running = startTestWorkers(jobs.db, workers({ files: slowAtFirst }));
    await expect.poll(stored).toHaveLength(1);
    const stateLater = async () => {
      await passTime(jobs.db);
      return (await job.find()).state;
    };
    await expect.poll(stateLater, { interval: 500 }).toBe(JobState.SUCCEEDED);
    release();
    await running.stop();
    const { fileKey } = await job.find();
    expect([puts, await stored()]).toEqual([2, [fileKey]]);
    // Left behind by a killed worker.
    await jobs.files.put(drawKey(renderId(job)), Buffer.from("lost"), { contentType: "application/pdf" });
    const later = { now: () => systemClock.now() + 2 * 3_600_000_000 };
    await removeRenders({ db: jobs.db, files: jobs.files, clock: later }).run(new AbortController().signal);
    expect(await stored()).toEqual([fileKey]);
    // A day later.
    await jobs.db.run(sql`update work set due_at = now() - interval '1 second'`);
    await removeRenders({ db: jobs.db, files: jobs.files, clock: later }).run(new AbortController().signal);
    expect(await stored()).toEqual([]);
  });
});

describe("rendered files of a deleted event", () => {
  const deleteEvent = async (at: number) => {
    await jobs.service.deliver(topics.eventChanged, [`${place.organizer}/${place.event}/`], { at });
    await jobs.service.prepareEvent();
  };
  const { signal } = new AbortController();
  const missing = { code: "render_not_found" };

  it("[L52.2] do not exist for an event that gets its name, which has its own, and go", async () => {
    const made = await start([part(1)]);
    const other = await start([part(1)], "other");
    await finish();
    const waiting = await start([part(2)]);
    const deletedAt = await databaseTime(jobs.db);
    await deleteEvent(deletedAt);
    await expect(made.find()).rejects.toMatchObject(missing);
    await expect(waiting.find()).rejects.toMatchObject(missing);
    const own = await start([part(3)]);
    // A rebuild may publish the deletion late.
    await deleteEvent(deletedAt);
    await finish();
    expect([(await own.find()).state, (await other.find()).state]).toEqual([JobState.SUCCEEDED, JobState.SUCCEEDED]);
    expect(await stored()).toHaveLength(3);
    const killed = { ...jobs.files, remove: () => Promise.reject(new Error("the process was killed")) };
    await expect(removeNotedFiles({ db: jobs.db, files: killed }).run(signal)).rejects.toThrow("killed");
    await removeNotedFiles(jobs).run(signal);
    expect(await jobs.db.many(sql`select from file_to_remove`)).toEqual([]);
    expect(await stored()).toEqual([(await own.find()).fileKey, (await other.find()).fileKey].sort());
  });

  it("[L52.2] are not kept of one that was at work", async () => {
    const job = await start([part(1)]);
    let isDeleted = false;
    const slow: Files = {
      ...jobs.files,
      async put(...given) {
        if (!isDeleted) await deleteEvent(await databaseTime(jobs.db));
        isDeleted = true;
        return jobs.files.put(...given);
      },
    };
    await finish({ files: slow });
    await expect(job.find()).rejects.toMatchObject(missing);
    expect([isDeleted, await stored()]).toEqual([true, []]);
  });
});

it("[L52.2] rendered files of an event that a rebuild has told late are still there", async () => {
  const made = await start([part(1)]);
  await finish();
  await jobs.service.sweep(topics.eventChanged, 1000);
  await jobs.service.prepareEvent();
  expect((await made.find()).state).toBe(JobState.SUCCEEDED);
  expect(await jobs.db.many(sql`select from file_to_remove`)).toEqual([]);
});
