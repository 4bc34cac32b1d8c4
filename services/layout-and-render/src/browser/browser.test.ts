import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isCollected } from "@tessera/testkit/collect-garbage";
import { drawPdf, readPdf } from "@tessera/testkit/read-pdf";
import { aPhoto } from "@tessera/testkit/sample-photo";
import { afterEach, describe, expect, it, vi } from "vitest";
import { anArea } from "../testing/elements.ts";
import { openTestRenderer, type TestRenderer } from "../testing/renderer.ts";
import type { PrintJob } from "./print-job.ts";
import type { PrintLimits } from "./print-queue.ts";
import { browsersFolder } from "./profile.ts";

const opened: TestRenderer[] = [];
function open(limits?: Partial<PrintLimits>): TestRenderer {
  const renderer = openTestRenderer(limits);
  opened.push(renderer);
  return renderer;
}
afterEach(async () => {
  await Promise.all(opened.splice(0).map((renderer) => renderer.close()));
});

function job(html: string, pages = 1): PrintJob {
  return { html, pages, width: 400, height: 400, fonts: [], images: [] };
}
const page = (content: string) => `<section style="width:3000px;height:3000px">${content}</section>`;
/** Takes the browser much longer than any limit of these tests. */
const endless = job(page("<p>x</p>".repeat(400_000)));
const short = job(page("<p>short</p>"));
const party = "one";

describe("a page that is not ours", () => {
  it("[L37.1] reaches no server and no file, and runs nothing", async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? "");
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const folder = await mkdtemp(join(tmpdir(), "tessera-decoy-"));
    try {
      const { port } = server.address() as AddressInfo;
      await writeFile(join(folder, "decoy.png"), aPhoto({ type: "image/png", width: 317 }), { mode: 0o644 });
      const addresses = [
        `http://127.0.0.1:${port}/`,
        `http://localhost:${port}/`,
        `http://[::1]:${port}/`,
        `//127.0.0.1:${port}/`,
        `ws://127.0.0.1:${port}/`,
        `file://${folder}/decoy.png`,
      ];
      const hostile = addresses.flatMap((address) => [
        `<img src="${address}img">`,
        `<script src="${address}script"></script><script>fetch("${address}fetch")</script>`,
        `<img src=x onerror="new Image().src='${address}onerror'">`,
        `<style>@import url(${address}import);p{background:url(${address}css)}@font-face{font-family:f;src:url(${address}font)}p{font-family:f}</style><p>x</p>`,
        `<iframe src="${address}frame"></iframe><iframe srcdoc="<img src='${address}srcdoc'>"></iframe>`,
        `<object data="${address}object"></object><embed src="${address}embed">`,
        `<link rel="stylesheet" href="${address}link"><link rel="preconnect" href="${address}"><link rel="dns-prefetch" href="${address}"><link rel="prefetch" href="${address}prefetch">`,
        `<svg><image href="${address}svg" width="9" height="9"/><use href="${address}use#a"/></svg>`,
        `<video src="${address}video" autoplay poster="${address}poster"></video><audio src="${address}audio" autoplay></audio>`,
        `<form action="${address}form" method="post"><input autofocus onfocus="this.form.submit()"></form>`,
        `<meta http-equiv="refresh" content="0;url=${address}refresh"><base href="${address}">`,
      ]);
      const renderer = open();
      await renderer.tools.printer.print(short, { party });
      const printed = await renderer.tools.printer.print(
        job(hostile.map((each) => page(each)).join(""), hostile.length),
        { party },
      );
      // Later requests of the page have been made by now.
      await renderer.tools.printer.print(short, { party });
      expect(asked).toEqual([]);
      // No page shows the picture of the decoy.
      expect(Buffer.from(printed.pdf).includes("/Width 317")).toBe(false);
      // The same HTML as texts of tickets.
      const pdf = await renderer.renderElements(hostile.map((value) => anArea(value, { width: 180 })));
      expect((await readPdf(pdf)).pages).toHaveLength(1);
      expect(asked).toEqual([]);
    } finally {
      server.close();
      await rm(folder, { recursive: true });
    }
  });

  it("[L37.2] is printed by a browser without our rights, variables and, where the system permits it, outside of its sandbox", async () => {
    vi.stubEnv("SECRET_OF_THE_TEST", "secret");
    const renderer = open();
    await renderer.tools.printer.print(short, { party });
    const pid = renderer.browsers[0]?.pid ?? 0;
    expect(readFileSync(`/proc/${pid}/environ`, "latin1")).not.toContain("SECRET_OF_THE_TEST");
    if (process.getuid?.() === 0) expect(readFileSync(`/proc/${pid}/status`, "latin1")).toMatch(/^Uid:\t65534\t65534/m);
    expect(readFileSync(`/proc/${pid}/cmdline`, "latin1")).not.toContain("--remote-debugging-port");
  });
});

describe("a browser", () => {
  it("[L38.1] that is killed during a print is started again, and the print repeated once", async () => {
    const renderer = open();
    await renderer.tools.printer.warmUp();
    const print = renderer.renderElements([anArea("Survivor\n".repeat(3000), { width: 50 })]);
    setTimeout(() => void renderer.browsers[0]?.kill(), 15);
    const { pages } = await readPdf(await print);
    expect(pages[0]?.texts.length).toBeGreaterThan(0);
    await renderer.tools.printer.print(short, { party });
  });

  it("keeps nothing that it has printed", async () => {
    const { tools } = open();
    const printed: WeakRef<object>[] = [];
    for (let count = 0; count < 3; count += 1)
      printed.push(new WeakRef((await tools.printer.print(short, { party })).pdf));
    expect(await Promise.all(printed.map(isCollected))).toEqual([true, true, true]);
  });

  it("[L38.1] whose tab was killed while it had no work is started again, and the next print comes soon", async () => {
    const renderer = open({ printMs: 15_000 });
    await renderer.tools.printer.print(short, { party });
    const drawers = processesOf(renderer.browsers[0]?.pid ?? 0).filter((pid) =>
      readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("--type=renderer"),
    );
    expect(drawers.length).toBeGreaterThan(0);
    for (const pid of drawers) process.kill(Number(pid), "SIGKILL");
    await expect
      .poll(() => drawers.every((pid) => !processesOf(renderer.browsers[0]?.pid ?? 0).includes(pid)))
      .toBe(true);
    await renderer.tools.printer.print(short, { party });
    expect(renderer.browsers).toHaveLength(2);
  });

  it("[L38.1] that is killed each time is a fault that passes", async () => {
    const renderer = open();
    const print = renderer.tools.printer.print(endless, { party });
    print.catch(() => undefined);
    for (let killed = 0; killed < 2; killed += 1) {
      await expect.poll(() => renderer.browsers.length).toBeGreaterThan(killed);
      await renderer.browsers[killed]?.kill();
    }
    await expect(print).rejects.toMatchObject({ kind: "unavailable", code: "browser_lost" });
    await renderer.tools.printer.print(short, { party });
  });

  it("[L38.2] that prints too long is ended; a print beside it is repeated, and the next ones are served", async () => {
    const renderer = open({ printMs: 2500 });
    await renderer.tools.printer.print(short, { party });
    const slow = renderer.tools.printer.print(endless, { party });
    // This job starts later, and runs until the browser is killed for the other job.
    let tries = 0;
    const beside = sleep(1000).then(() =>
      renderer.tools.printer.print(
        {
          ...short,
          get html() {
            tries += 1;
            return tries === 1 ? endless.html : short.html;
          },
        },
        { party },
      ),
    );
    expect(await Promise.allSettled([slow, beside])).toMatchObject([
      { status: "rejected", reason: { kind: "timeout", code: "print_too_slow" } },
      { status: "fulfilled" },
    ]);
    expect(tries).toBe(2);
    await renderer.tools.printer.print(short, { party });
    expect(renderer.browsers.length).toBe(2);
  });

  it("[L38.3] is replaced after many pages, without a job noticing", async () => {
    const renderer = open({ pages: 2 });
    for (let print = 0; print < 8; print += 1) await renderer.tools.printer.print(short, { party });
    expect(renderer.browsers.length).toBeGreaterThan(1);
    const [first] = renderer.browsers;
    await first?.ended;
  });

  it("[L38.3] is replaced when it has much memory", async () => {
    const renderer = open({ memory: 1 });
    for (let print = 0; print < 17; print += 1) await renderer.tools.printer.print(short, { party });
    const printAgain = async () => {
      await renderer.tools.printer.print(short, { party });
      return renderer.browsers.length;
    };
    await expect.poll(printAgain).toBeGreaterThan(1);
    expect(await renderer.tools.printer.print(short, { party })).toHaveProperty("pdf");
  });

  it("[L38.4] without work ends, and a later job starts another", async () => {
    const renderer = open({ idleMs: 50 });
    await renderer.tools.printer.print(short, { party });
    await renderer.browsers[0]?.ended;
    await renderer.tools.printer.print(short, { party });
    expect(renderer.browsers).toHaveLength(2);
  });

  it("[L38.5] leaves no file and no process behind when it is closed", async () => {
    const renderer = open();
    await renderer.tools.printer.print(short, { party });
    const listOwn = async () => (await readdir(browsersFolder())).filter((name) => name.startsWith(`${process.pid}-`));
    const own = await listOwn();
    expect(own.length).toBeGreaterThan(0);
    const pid = renderer.browsers[0]?.pid ?? 0;
    expect(processesOf(pid).length).toBeGreaterThan(1);
    await renderer.close();
    await expect.poll(() => processesOf(pid)).toEqual([]);
    await expect.poll(async () => (await listOwn()).length).toBeLessThan(own.length);
  });

  it("[L38.5] ends when the process that started it is killed", async () => {
    const program = fileURLToPath(new URL("../testing/print-and-wait.ts", import.meta.url));
    const child = spawn(process.execPath, ["--conditions=source", program], { stdio: ["ignore", "pipe", "inherit"] });
    const pid = await new Promise<number>((resolve) =>
      child.stdout.once("data", (text: Buffer) => resolve(Number(text))),
    );
    expect(processesOf(pid).length).toBeGreaterThan(1);
    child.kill("SIGKILL");
    await expect.poll(() => processesOf(pid)).toEqual([]);
  });
});

function processesOf(group: number): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
        const [state, , pgrp] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        return Number(pgrp) === group && state !== "Z";
      } catch {
        return false;
      }
    });
}

describe("a queue before the browser", () => {
  it("[L39.1] refuses what is too much", async () => {
    const renderer = open({ waitingEach: 3 });
    await renderer.tools.printer.warmUp();
    const jobs = Array.from({ length: 10 }, () => renderer.tools.printer.print(short, { party }));
    const results = await Promise.allSettled(jobs);
    const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
    expect(refused.length).toBeGreaterThan(0);
    for (const reason of refused) expect(reason).toMatchObject({ kind: "exhausted", code: "print_queue_full" });
    expect(await renderer.tools.printer.print(short, { party })).toHaveProperty("pdf");
  });

  it("[L39.2] lets parties take turns: a thousand jobs of one delay no other", async () => {
    const renderer = open({ waitingEach: 2000 });
    await renderer.tools.printer.warmUp();
    let done = 0;
    const many = Promise.allSettled(
      Array.from({ length: 1000 }, () =>
        renderer.tools.printer.print(short, { party: "large" }).then(() => {
          done += 1;
        }),
      ),
    );
    await renderer.tools.printer.print(short, { party: "small" });
    expect(done).toBeLessThan(100);
    await renderer.close();
    await many;
  });

  it("[L39.4] leaves a tab to others, however long the prints of one party take", async () => {
    const renderer = open({ tabs: 1 });
    await renderer.tools.printer.warmUp();
    let isOver = false;
    const long = Promise.allSettled(
      [endless, endless].map((each) => renderer.tools.printer.print(each, { party: "slow" })),
    ).then(() => {
      isOver = true;
    });
    expect(await renderer.tools.printer.print(short, { party: "other" })).toHaveProperty("pdf");
    expect(isOver).toBe(false);
    await renderer.close();
    await long;
  });

  it("[L39.4] leaves one tab to a party whose prints are slow", async () => {
    const renderer = open({ tabs: 2, slowMs: 0 });
    await renderer.tools.printer.print(short, { party: "slow" });
    let begun = 0;
    const counted: PrintJob = {
      ...endless,
      get html() {
        begun += 1;
        return endless.html;
      },
    };
    const printSlow = () => renderer.tools.printer.print(counted, { party: "slow" }).catch(() => undefined);
    const first = printSlow();
    await expect.poll(() => begun).toBe(1);
    const second = printSlow();
    expect(await renderer.tools.printer.print(short, { party: "other" })).toHaveProperty("pdf");
    expect(begun).toBe(1);
    await renderer.close();
    await Promise.all([first, second]);
  });

  it("[L39.3] forgets a job that is given up", async () => {
    const renderer = open({ tabs: 1 });
    await renderer.tools.printer.warmUp();
    const first = renderer.tools.printer.print(short, { party });
    const second = renderer.tools.printer.print(short, { party, signal: AbortSignal.abort(new Error("given up")) });
    await expect(second).rejects.toThrow("given up");
    await first;
  });
});

it("[L37.3] a picture larger than its box is made smaller without leaving the browser", async () => {
  const renderer = open();
  const bytes = aPhoto({ width: 2000, height: 1000 });
  const printed = await renderer.tools.printer.print(
    {
      ...job(page(`<div class="i" data-image="0" style="left:0;top:0;width:2000px;height:1000px"></div>`)),
      images: [{ type: "image/jpeg", bytes, pixels: 2_000_000, mostWidth: 100, mostHeight: 100 }],
    },
    { party },
  );
  expect(printed.brokenImages).toEqual([]);
  expect((await drawPdf(printed.pdf)).colorAt(10, 100)).not.toEqual([255, 255, 255]);
});
