import { execFileSync } from "node:child_process";
import { readdir } from "node:fs/promises";
import { Fault } from "@tessera/kit/fault";
import type { Files } from "@tessera/kit/files/files";
import { sql } from "@tessera/kit/pg/sql";
import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import { describe, expect, it } from "vitest";
import { fault } from "../faults.ts";
import { rendersOf } from "../printing/render-work.ts";
import { SlowLayouts } from "../rendering/slow-layouts.ts";
import { part, renderJobs } from "../testing/render-jobs.ts";
import { openTestRenderer } from "../testing/renderer.ts";
import { place } from "../testing/start-layout.ts";
import { ticketAnswer } from "../testing/ticket-answer.ts";
import type { JobTools } from "./render-batches.ts";

const jobs = renderJobs();
const { finish, readStored, start, stored } = jobs;
const away = () => new Fault("unavailable", "files_unavailable", "The store is away.");

describe("what passes by itself", () => {
  it("[L50.1] is waited for, and the job ends well, once", async () => {
    let failures = 3;
    const flaky: Files = {
      ...jobs.files,
      put: (...given) => (failures-- > 0 ? Promise.reject(away()) : jobs.files.put(...given)),
    };
    const job = await start([part(1), part(2)]);
    await finish({ files: flaky });
    const found = await job.find();
    expect(found).toMatchObject({ state: JobState.SUCCEEDED, message: "" });
    expect(await stored()).toEqual([found.fileKey]);
    expect(found.fileKey.startsWith(rendersOf(place))).toBe(true);
  });

  it("[L50.6] such as a full disk is waited for, and no part of a file is left on it", async () => {
    const limit = (bytes: string) =>
      execFileSync("prlimit", ["--pid", String(process.pid), `--fsize=${bytes}:unlimited`]);
    const many = Array.from({ length: 20 }, (_, index) => part(index + 1));
    const left = async () => (await readdir(jobs.directory, { recursive: true })).filter((name) => name.includes("."));
    // Limits the size of files of this process below that of the rendered one.
    limit(String(32 * 1024));
    try {
      const hopeless = await start(many);
      await finish({ patienceMs: 300 });
      expect(await hopeless.find()).toMatchObject({
        state: JobState.FAILED,
        message: "the folder for files is full; make room on its disk",
      });
      expect(await left()).toEqual([]);
      const job = await start(many);
      const finished = finish();
      await expect.poll(() => jobs.lines.filter((line) => line.includes("is full")).length).toBeGreaterThan(1);
      limit("unlimited");
      await finished;
      expect((await readStored((await job.find()).fileKey)).pages).toHaveLength(20);
    } finally {
      limit("unlimited");
    }
    expect(await stored()).toHaveLength(1);
  });

  it("[L50.2] ends the job with its sentence when it lasts too long", async () => {
    const job = await start([part(1)]);
    await finish({ patienceMs: 300, ticketData: { readTicketData: () => Promise.reject(away()) } });
    expect(await job.find()).toMatchObject({ state: JobState.FAILED, message: "The store is away." });
  });

  it("[L50.5] such as a browser that does not start is waited for, but not for ever", async () => {
    const [flaky, never] = [2, Number.POSITIVE_INFINITY].map((missing) => openTestRenderer({ missing }));
    const job = await start([part(1)]);
    await finish({ renderer: flaky?.tools ?? jobs.renderer.tools });
    expect(await job.find()).toMatchObject({ state: JobState.SUCCEEDED, message: "" });
    const late = await start([part(1)]);
    await finish({ renderer: never?.tools ?? jobs.renderer.tools, patienceMs: 300 });
    const message = "Tickets cannot be printed now: no browser starts. Try again later.";
    expect(await late.find()).toMatchObject({ state: JobState.FAILED, message });
    await flaky?.close();
  });

  it("[L50.3] such as a browser that is killed loses no ticket and prints none twice", async () => {
    await jobs.renderer.tools.printer.warmUp();
    const before = jobs.renderer.browsers.length;
    const numbers = Array.from({ length: 300 }, (_, index) => index + 1);
    const nameOf = (number: number) => `Guest ${number}.`;
    const job = await start(numbers.map((number) => part(number)));
    await finish({
      ticketData: {
        async readTicketData(request) {
          // The last hundred are read while the browser has the first.
          if (request.positions.includes(300)) await jobs.renderer.browsers.at(-1)?.kill();
          return ticketAnswer(request, { attendeeName: nameOf });
        },
      },
    });
    expect(jobs.renderer.browsers.length).toBeGreaterThan(before);
    const { pages } = await readStored((await job.find()).fileKey);
    const names = pages.map(({ texts }) => texts.map(({ text }) => text).filter((text) => text.startsWith("Guest ")));
    expect(names).toEqual(numbers.map((number) => [nameOf(number)]));
  });
});

describe("a part that cannot be printed", () => {
  it("[L51.1] is named: a ticket, a layout or a background that is gone", async () => {
    const gone = await start([part(1), part(2)]);
    await finish({
      ticketData: { readTicketData: async (request) => ticketAnswer(request, { exists: (id) => id === 1 }) },
    });
    expect(await gone.find()).toMatchObject({ message: "Part 2 (position 2): the ticket 2 does not exist any more." });
    const noLayout = await start([part(1), part(2, { overrideLayout: 77 })]);
    await finish();
    expect(await noLayout.find()).toMatchObject({
      message: "Part 2 (position 2): the layout 77 does not exist any more.",
    });
    const { id } = await jobs.service.create();
    await jobs.db.run(sql`
      update layout set background = ${"ab".repeat(20)}, background_size = 1, background_sha256 = 'x' where id = ${id}`);
    const noFile = await start([part(1), part(2, { overrideLayout: id })]);
    await finish();
    expect((await noFile.find()).message).toBe(
      "Part 2 (position 2): The background of the layout is lost: set it again.",
    );
    await jobs.files.put(`backgrounds/${"ab".repeat(20)}.pdf`, Buffer.from("%PDF-1.4 x"), {
      contentType: "application/pdf",
    });
    const broken = await start([part(1), part(2, { overrideLayout: id })]);
    await finish();
    expect((await broken.find()).message).toBe(
      "Part 2 (position 2): The background of the layout cannot be read: set another PDF.",
    );
    expect(await stored()).toEqual([]);
  });

  it("[L51.2] is named when it takes too long, and its layout holds up no other print for a while", async () => {
    const slow = openTestRenderer({ printMs: 1 });
    const printed: string[] = [];
    const printer: typeof slow.tools.printer = {
      ...slow.tools.printer,
      print(job, options) {
        printed.push(options.party);
        return slow.tools.printer.print(job, options);
      },
    };
    const renderer = { ...slow.tools, printer };
    const first = await start([part(1)], "one");
    await finish({ renderer });
    const later = [await start([part(1)], "one"), await start([part(1)], "two")];
    await finish({ renderer });
    await slow.close();
    for (const { find } of [first, ...later])
      expect((await find()).message).toMatch(/^Part 1 \(position 1\): A page took too long/);
    expect(printed).toEqual(["one", "two"]);
  });

  /** A printer that fails for chunks with this name. */
  const failsFor = (name: string): JobTools["renderer"] => {
    const { tools } = jobs.renderer;
    return {
      ...tools,
      printer: {
        ...tools.printer,
        print: (job, options) =>
          job.html.includes(name) ? Promise.reject(new Error("broken")) : tools.printer.print(job, options),
      },
    };
  };
  const guests: JobTools["ticketData"] = {
    readTicketData: async (request) =>
      ticketAnswer(request, { attendeeName: (id) => `Guest ${id}.`, exists: (id) => id !== 3 }),
  };
  const namesIn = async (fileKey: string) =>
    (await readStored(fileKey)).pages.map(({ texts }) => texts.find(({ text }) => text.startsWith("Guest "))?.text);

  it("[L51.4] is named alone when it cannot be drawn, whatever is drawn with it", async () => {
    const job = await start([4, 5, 6, 7, 8].map((position) => part(position)));
    await finish({ renderer: failsFor("Guest 7."), ticketData: guests });
    expect(await job.find()).toMatchObject({
      state: JobState.FAILED,
      message: "Part 4 (position 7): it cannot be drawn.",
    });
    expect(jobs.lines.join("")).toContain("tickets could not be drawn");
    expect(await stored()).toEqual([]);
  });

  it("[L51.3] is left out, and named, where that was asked for", async () => {
    const parts = [1, 2, 3, 4, 5, 6, 7, 8].map((id) => part(id, id === 5 ? { overrideLayout: 77 } : {}));
    const job = await start(parts, place.organizer, { skipsFailed: true });
    await finish({ renderer: failsFor("Guest 7."), ticketData: guests });
    const found = await job.find();
    expect(found).toMatchObject({
      state: JobState.SUCCEEDED,
      leftOut: [3, 5, 7],
      warnings: [
        "Part 3 (position 3): the ticket 3 does not exist any more.",
        "Part 5 (position 5): the layout 77 does not exist any more.",
        "Part 7 (position 7): it cannot be drawn.",
      ],
    });
    expect(await namesIn(found.fileKey)).toEqual([1, 2, 4, 6, 8].map((id) => `Guest ${id}.`));
    expect(await stored()).toEqual([found.fileKey]);
  });

  it("[L51.3] is left out alone when it takes too long, whatever layouts are printed with it", async () => {
    const elements = JSON.stringify([
      {
        ...{ type: "textarea", left: 10, bottom: 100, width: 100, fontsize: 12, content: "other", text: "Slowly" },
        ...{ fontfamily: "Open Sans", color: [0, 0, 0], bold: false, italic: false, align: "left" },
        ...{ downward: false, rotation: 0 },
      },
    ]);
    const { id } = await jobs.service.create({ elements });
    const { tools } = jobs.renderer;
    let slow = 0;
    const printer: typeof tools.printer = {
      ...tools.printer,
      print(job, options) {
        if (!job.html.includes("Slowly")) return tools.printer.print(job, options);
        slow += 1;
        return Promise.reject(fault("print_too_slow", "A page took too long."));
      },
    };
    const renderer = { ...tools, printer, slow: new SlowLayouts() };
    const parts = [1, 2, 4, 5, 6].map((number) => part(number, number % 2 === 0 ? { overrideLayout: id } : {}));
    const job = await start(parts, place.organizer, { skipsFailed: true });
    await finish({ renderer, ticketData: guests });
    const found = await job.find();
    expect(found).toMatchObject({ state: JobState.SUCCEEDED, leftOut: [2, 3, 5] });
    expect(found.warnings).toEqual(
      [2, 4, 6].map((position, index) => `Part ${[2, 3, 5][index]} (position ${position}): A page took too long.`),
    );
    expect(await namesIn(found.fileKey)).toEqual(["Guest 1.", "Guest 5."]);
    // Once together, and once alone: then the layout to blame is known.
    expect(slow).toBe(2);
  });

  it("[L51.3] fails the job where nothing is left", async () => {
    const job = await start([part(3), part(3)], place.organizer, { skipsFailed: true });
    await finish({ ticketData: guests });
    expect(await job.find()).toMatchObject({
      state: JobState.FAILED,
      message: "No part can be printed. Part 1 (position 3): the ticket 3 does not exist any more.",
    });
    const slow = openTestRenderer({ printMs: 1 });
    const late = await start([part(1), part(2)], place.organizer, { skipsFailed: true });
    await finish({ renderer: slow.tools });
    await slow.close();
    expect((await late.find()).message).toMatch(
      /^No part can be printed\. Part 1 \(position 1\): A page took too long/,
    );
    expect(await stored()).toEqual([]);
  });
});
