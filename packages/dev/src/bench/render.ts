import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { columns } from "@tessera/cli/columns";
import { createLog } from "@tessera/kit/log";
import { browserStarter } from "@tessera/layout-and-render/browser/open-browser";
import { openPrintQueue } from "@tessera/layout-and-render/browser/print-queue";
import { encodeSymbol } from "@tessera/layout-and-render/domain/code-symbol";
import { drawCode } from "@tessera/layout-and-render/domain/drawing/draw-code";
import { openBackgroundCache } from "@tessera/layout-and-render/rendering/background-cache";
import { drawChunk } from "@tessera/layout-and-render/rendering/draw-chunk";
import { openFontCatalogue } from "@tessera/layout-and-render/rendering/font-catalogue";
import { type RenderTools, renderTickets } from "@tessera/layout-and-render/rendering/render-tickets";
import { SlowLayouts } from "@tessera/layout-and-render/rendering/slow-layouts";
import type { BackgroundFile, ReadImages } from "@tessera/layout-and-render/rendering/ticket";
import { drawBackground, makePhotos, makeTicket } from "./render-material.ts";
import { measureOverRest, type OverRest } from "./render-over-rest.ts";

/** A request may name so many. */
const mostOverRest = 1000;

/** What is promised. */
const promised = { seconds: 1, ratio: 0.7, singleMs: 100, coldMs: 3000, megabytes: 6, memory: 800 };

const log = createLog({ service: "bench", level: "warn", destination: process.stderr });
const executable = process.env["CHROMIUM_PATH"];

interface Material {
  readonly background: BackgroundFile;
  readonly readImages: ReadImages;
}

/** Renders tickets with a background, eight texts, a code and a picture, beside the browser's own print of them. */
export async function benchRender({ tickets }: { readonly tickets: number }): Promise<void> {
  const overRest = await measureOverRest({ tickets: Math.min(tickets, mostOverRest) });
  const material: Material = { background: await drawBackground(), readImages: makePhotos() };
  const started = performance.now();
  const printer = openPrintQueue({ start: browserStarter({ executable, sandbox: "on", log }), log });
  const tools = { printer, fonts: openFontCatalogue(), backgrounds: openBackgroundCache(), slow: new SlowLayouts() };
  try {
    await render(tools, material, 1);
    const coldMs = performance.now() - started;
    const own = await measureOwn(material, Math.min(tickets, 1000));
    const single: number[] = [];
    for (let index = 0; index < 40; index += 1) single.push((await render(tools, material, 1)).ms);
    const batches = [];
    for (let round = 0; round < 3; round += 1) batches.push(await render(tools, material, tickets));
    const best = batches.reduce((one, other) => (one.ms < other.ms ? one : other));
    const memory = await measureMemory(() => render(tools, material, tickets));
    print({ tickets, coldMs, own, single: single.sort((a, b) => a - b), best, memory, overRest });
  } finally {
    await printer.close();
  }
}

interface Rendered {
  readonly ms: number;
  readonly bytes: number;
}

async function render(tools: RenderTools, { background, readImages }: Material, count: number): Promise<Rendered> {
  const started = performance.now();
  let bytes = 0;
  const pieces = renderTickets(
    {
      tickets: (function* () {
        for (let index = 0; index < count; index += 1) yield makeTicket(index, background);
      })(),
      count,
      title: "Tickets",
      language: "de",
      issuer: "https://tickets.example",
      party: "bench",
      createdAt: new Date(),
      readImages,
    },
    tools,
  );
  for await (const piece of pieces) bytes += piece.length;
  return { ms: performance.now() - started, bytes };
}

/** The same pages, codes too, in one document that the browser lays out and prints, without their background: tickets per second. */
async function measureOwn({ background, readImages }: Material, count: number): Promise<number> {
  const chromium = await browserStarter({ executable, sandbox: "on", log })();
  try {
    const prepared = await openBackgroundCache().prepare(background, "bench");
    const read = Array.from({ length: count }, async (_, index) => {
      const ticket = makeTicket(index, background);
      const entries = ticket.elements.map(async (element) =>
        element.type === "imagearea" && element.image !== null
          ? ([[element, (await readImages([element.image]))[0]]] as const)
          : [],
      );
      const images = new Map(
        (await Promise.all(entries)).flat().flatMap(([element, file]) => (file ? [[element, file]] : [])),
      );
      return { ticket, index, background: prepared, images };
    });
    const chunk = drawChunk(await Promise.all(read), openFontCatalogue(), { encode: encodeSymbol });
    if (chunk.job === undefined) return Number.NaN;
    const height = 297;
    const codes = chunk.pages.map(({ drawn }) => drawn.codes.map((code) => drawCode(code, { height })).join(""));
    let page = 0;
    const html = chunk.job.html.replaceAll("</section>", () => `${codes[page++]}</section>`);
    const tab = await chromium.openTab();
    await tab.print({ ...chunk.job, html: "<section></section>", pages: 1 });
    const started = performance.now();
    await tab.print({ ...chunk.job, html });
    return count / ((performance.now() - started) / 1000);
  } finally {
    await chromium.kill();
  }
}

/** The peak of all memory of this process and of the browsers that it started, in MiB; what they share counts once. */
async function measureMemory(work: () => Promise<unknown>): Promise<number> {
  let peak = 0;
  let isOver = false;
  const watch = (async () => {
    while (!isOver) {
      peak = Math.max(peak, await memoryNow());
      await sleep(200);
    }
  })();
  await work();
  isOver = true;
  await watch;
  return peak;
}

async function memoryNow(): Promise<number> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const parents = new Map<string, string>();
  for (const pid of pids) {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    parents.set(pid, stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] ?? "");
  }
  const isOurs = (pid: string): boolean =>
    pid === String(process.pid) || (parents.has(pid) && isOurs(parents.get(pid) ?? ""));
  let sum = 0;
  for (const pid of pids.filter(isOurs)) {
    const text = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
    sum += Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) / 1024;
  }
  return sum;
}

interface Figures {
  readonly tickets: number;
  readonly coldMs: number;
  readonly own: number;
  readonly single: readonly number[];
  readonly best: Rendered;
  readonly memory: number;
  readonly overRest: OverRest;
}

function print({ tickets, coldMs, own, single, best, memory, overRest }: Figures): void {
  const seconds = best.ms / 1000;
  const perSecond = tickets / seconds;
  const median = single[Math.floor(single.length / 2)] ?? 0;
  const worst = single.at(-1) ?? 0;
  const megabytes = best.bytes / 1024 / 1024;
  const perThousand = 1000 / tickets;
  const asked = Math.min(tickets, mostOverRest);
  const restSeconds = overRest.ms / 1000;
  const rows = [
    ["", "measured", "promised"],
    [
      `${tickets} tickets in one file`,
      `${seconds.toFixed(2)} s, ${perSecond.toFixed(0)}/s`,
      `${(promised.seconds / perThousand).toFixed(1)} s`,
    ],
    [
      `${asked} tickets over REST, from the request to the file`,
      `${restSeconds.toFixed(2)} s, ${(asked / restSeconds).toFixed(0)}/s; mostly ${(overRest.medianMs / 1000).toFixed(2)} s, started after ${overRest.startMs.toFixed(0)} ms`,
      `${((promised.seconds * asked) / 1000).toFixed(1)} s`,
    ],
    ["the browser's own print of such pages", `${own.toFixed(0)}/s`, ""],
    ["one file, of the browser's own", `${(perSecond / own).toFixed(1)} times`, String(promised.ratio)],
    ["over REST, of the browser's own", `${(asked / restSeconds / own).toFixed(1)} times`, String(promised.ratio)],
    ["one ticket, warm", `${median.toFixed(1)} ms, at most ${worst.toFixed(1)} ms`, `${promised.singleMs} ms`],
    ["from nothing to the first ticket", `${coldMs.toFixed(0)} ms`, `${promised.coldMs} ms`],
    ["size of the file", `${megabytes.toFixed(1)} MiB`, `${(promised.megabytes / perThousand).toFixed(1)} MiB`],
    ["peak memory with the browser", `${memory.toFixed(0)} MiB`, `${promised.memory} MiB`],
  ];
  process.stdout.write(`${columns(rows)}\n`);
  const isKept =
    seconds < promised.seconds / perThousand &&
    restSeconds < (promised.seconds * asked) / 1000 &&
    perSecond / own >= promised.ratio &&
    median < promised.singleMs &&
    coldMs < promised.coldMs &&
    megabytes < promised.megabytes / perThousand &&
    memory < promised.memory;
  if (!isKept) process.exitCode = 1;
}
