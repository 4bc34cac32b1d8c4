import { Fault } from "@tessera/kit/fault";
import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import { describe, expect, it } from "vitest";
import { part, renderJobs } from "../testing/render-jobs.ts";
import type { JobTools } from "./render-batches.ts";

const jobs = renderJobs();
const { finish, readStored, start } = jobs;

describe("scans", () => {
  const elements = (content: string) =>
    JSON.stringify([
      {
        ...{ type: "textarea", left: 10, bottom: 100, width: 100, fontsize: 12, content, fontfamily: "Open Sans" },
        ...{ color: [0, 0, 0], bold: false, italic: false, align: "left", downward: false, rotation: 0 },
      },
    ]);
  /** A check-in in which every second ticket entered on the day of its number. */
  const asking = (asked: (readonly number[])[]): JobTools["firstEntries"] => ({
    findFirstEntries: async ({ positions }) => {
      asked.push(positions);
      const odd = positions.filter((id) => id % 2 === 1);
      return { scanned: odd.map((id) => ({ position: id, firstEntryAt: Date.UTC(2025, 11, id) * 1000 })) };
    },
  });
  const textsIn = async (key: string) =>
    (await readStored(key)).pages.map(({ texts }) => texts.map(({ text }) => text).join());

  it("[L14.7] are asked for once for a hundred tickets, and of those alone whose layout prints them", async () => {
    const { id: scanned } = await jobs.service.create({ elements: elements("first_scan") });
    const { id: other } = await jobs.service.create({ elements: elements("order") });
    const asked: (readonly number[])[] = [];
    const parts = Array.from({ length: 230 }, (_, index) =>
      part(index + 1, { overrideLayout: index < 100 || index % 10 > 0 ? other : scanned }),
    );
    const job = await start([...parts, part(3, { overrideLayout: scanned })]);
    await finish({ firstEntries: asking(asked) });
    const found = await job.find();
    expect(found).toMatchObject({ state: JobState.SUCCEEDED, warnings: [] });
    expect(asked).toEqual([
      [101, 111, 121, 131, 141, 151, 161, 171, 181, 191],
      [201, 211, 221, 3],
    ]);
    const texts = await textsIn(found.fileKey);
    expect([texts[0], texts[99], texts[200], texts[230]]).toEqual([
      "ABCDE",
      "ABCDE",
      "2026-06-19 00:00",
      "2025-12-03 00:00",
    ]);
  });

  it("[L50.7] that cannot be had leave their texts empty, with a warning, and the ticket is printed", async () => {
    const { id } = await jobs.service.create({ elements: elements("first_scan") });
    const { id: other } = await jobs.service.create({ elements: elements("order") });
    const job = await start([part(1, { overrideLayout: id }), part(2, { overrideLayout: other })]);
    let asked = 0;
    await finish({
      firstEntries: {
        findFirstEntries: () => {
          asked += 1;
          return Promise.reject(new Fault("unavailable", "peer_unavailable", "checkin is away"));
        },
      },
    });
    const found = await job.find();
    expect(found).toMatchObject({
      state: JobState.SUCCEEDED,
      warnings: ["Part 1: Element 1 (textarea first_scan): first_scan is empty: check-in does not answer"],
    });
    expect(asked).toBe(1);
    expect(await textsIn(found.fileKey)).toEqual(["", "ABCDE"]);
  });
});
