import { quantile } from "@tessera/cli/simulate/quantile";
import { browserStarter } from "@tessera/layout-and-render/browser/open-browser";
import { openPrintQueue } from "@tessera/layout-and-render/browser/print-queue";
import { encodeSymbol } from "@tessera/layout-and-render/domain/code-symbol";
import { drawCode } from "@tessera/layout-and-render/domain/drawing/draw-code";
import { openBackgroundCache } from "@tessera/layout-and-render/rendering/background-cache";
import { drawChunk } from "@tessera/layout-and-render/rendering/draw-chunk";
import { openFontCatalogue } from "@tessera/layout-and-render/rendering/font-catalogue";
import type { BackgroundFile, Ticket } from "@tessera/layout-and-render/rendering/printed-ticket";
import { type RenderTools, renderTickets } from "@tessera/layout-and-render/rendering/render-tickets";
import { SlowLayouts } from "@tessera/layout-and-render/rendering/slow-layouts";
import { ask, eventPath, sendRecords, timed, untilDone } from "./client.ts";
import { inOneProcess, log, type Platform } from "./platform.ts";
import { groundwork } from "./records.ts";
import { drawBackground, layoutRecords, makeTicket, orderWithPhoto, readImages } from "./render-material.ts";
import { atLeast, atMost, figure, type Row, report } from "./report.ts";
import { peakOfAll } from "./usage.ts";

/** What is promised of a thousand tickets, of one, and of a batch of ten thousand for sale offline. */
const promised = { seconds: 1, ratio: 0.7, singleMs: 100, coldMs: 3000, megabytes: 6, memory: 800 } as const;
const promisedOffline = { tickets: 10, madeSeconds: 3, printedSeconds: 10 } as const;

/** A request may name so many. */
const mostOverRest = 1000;

/** The first ones compile what runs. */
const rounds = 12;
const singles = 40;

const start = browserStarter({ executable: process.env["CHROMIUM_PATH"], sandbox: "on", log });

/**
 * Renders tickets with a background, eight texts, a code and a picture: over REST, one by itself, and, as the limit, by the
 * browser's own print of them. Then ten times as many are made for sale offline.
 */
export async function benchRender(wanted: number): Promise<void> {
  const tickets = Math.min(wanted, mostOverRest);
  const background = await drawBackground();
  const own = await measureOwn(background, tickets);
  report([
    figure(`the browser's own print of ${tickets} such pages`, `${own.toFixed(0)} a second`),
    ...(await inOneProcess((platform) => overRest(platform, { tickets, background, own }))),
    ...(await measureSingles(background)),
  ]);
}

interface Material {
  readonly tickets: number;
  readonly background: BackgroundFile & { readonly bytes: Uint8Array };
  /** Tickets a second of the browser's own print. */
  readonly own: number;
}

async function overRest(platform: Platform, { tickets, background, own }: Material): Promise<Row[]> {
  const { baseUrl, progress, processes } = platform;
  const base = `${baseUrl}${eventPath}`;
  const numbers = Array.from({ length: tickets }, (_, index) => index + 1);
  await sendRecords(baseUrl, [...groundwork, ...layoutRecords(background.bytes), ...numbers.map(orderWithPhoto)]);
  const parts = numbers.map((orderposition) => ({ orderposition }));
  let bytes = 0;
  const took: number[] = [];
  const render = async () => {
    const { download } = await ask<{ download: string }>(`${base}/ticketpdfrenderer/render_batch/`, { parts });
    bytes = (await untilDone(download)).length;
  };
  const memory = await peakOfAll(processes()[0]?.pid ?? 0, async () => {
    for (let round = 1; round <= rounds; round += 1) {
      progress.update(`rendering, ${round} of ${rounds}`);
      took.push(await timed(render));
    }
  });
  const best = Math.min(...took) / 1000;
  const sold = tickets * promisedOffline.tickets;
  const made: number[] = [];
  let batch = { id: 0 };
  for (let round = 1; round <= 4; round += 1) {
    progress.update(`making batches, ${round} of 4`);
    const make = async () => {
      const asked = { item: 1, layout: 1, sales_channel: "web", amount: sold };
      const { check } = await ask<{ check: string }>(`${base}/offlinesalesbatches/`, asked);
      batch = JSON.parse((await untilDone(check)).toString()) as { id: number };
    };
    made.push(await timed(make));
  }
  progress.update("printing a batch…");
  const printed = await timed(async () => {
    const { download } = await ask<{ download: string }>(`${base}/offlinesalesbatches/${batch.id}/render/`, {});
    await untilDone(download);
  });
  progress.done();
  const share = tickets / 1000;
  return [
    atMost(`${tickets} tickets over REST, from the request to the file`, best, promised.seconds * share, "s"),
    figure("  mostly", `${(quantile(took, 0.5) / 1000).toFixed(2)} s`),
    atLeast("  ratio to the browser's own print", tickets / best / own, promised.ratio, "times"),
    atMost("  size of the file", bytes / 1024 / 1024, promised.megabytes * share, "MiB"),
    atMost("  peak memory with the browser", memory, promised.memory, "MiB"),
    atMost(`${sold} tickets made for sale offline`, Math.min(...made) / 1000, promisedOffline.madeSeconds * share, "s"),
    atMost("  printed", printed / 1000, promisedOffline.printedSeconds * share, "s"),
  ];
}

/** Renders tickets one at a time, without REST. */
async function measureSingles(background: BackgroundFile): Promise<Row[]> {
  const printer = openPrintQueue({ start, log });
  const tools = { printer, fonts: openFontCatalogue(), backgrounds: openBackgroundCache(), slow: new SlowLayouts() };
  const render = () => timed(() => renderBare(tools, makeTicket(0, background)));
  try {
    const coldMs = await render();
    const single: number[] = [];
    for (let index = 0; index < singles; index += 1) single.push(await render());
    return [
      atMost("one ticket", quantile(single, 0.5), promised.singleMs, "ms"),
      atMost("  the first one after the start", coldMs, promised.coldMs, "ms"),
    ];
  } finally {
    await printer.close();
  }
}

async function renderBare(tools: RenderTools, ticket: Ticket): Promise<void> {
  const pieces = renderTickets(
    {
      ...{ tickets: [ticket], count: 1, title: "Tickets", language: "de", issuer: "https://tickets.example" },
      ...{ party: "bench", createdAt: new Date(), readImages },
    },
    tools,
  );
  for await (const piece of pieces) if (piece.length === 0) throw new Error("a piece of the file is empty");
}

/** The limit: the same pages, codes too, in one document that the browser lays out and prints, without their background. */
async function measureOwn(background: BackgroundFile, count: number): Promise<number> {
  const chromium = await start();
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
