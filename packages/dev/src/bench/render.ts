import { quantile } from "@tessera/cli/simulate/quantile";
import { startPageBrowser } from "@tessera/testkit/browser/page-browser";
import { ask, eventPath, sendRecords, timed, untilDone } from "./client.ts";
import { inOneProcess, type Platform } from "./platform.ts";
import { groundwork } from "./records.ts";
import { drawBackground, drawPlainPages, layoutRecords, orderWithPhoto } from "./render-material.ts";
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

/**
 * Renders tickets with a background, eight texts, a code and a picture: over REST, one by itself and many together, and, as the
 * limit, by the browser's own print of them. Then ten times as many are made for sale offline.
 */
export async function benchRender(wanted: number): Promise<void> {
  const tickets = Math.min(wanted, mostOverRest);
  const background = await drawBackground();
  const own = await measureOwn(tickets);
  report([
    figure(`the browser's own print of ${tickets} such pages`, `${own.toFixed(0)} a second`),
    ...(await inOneProcess((platform) => overRest(platform, { tickets, background, own }))),
  ]);
}

interface Material {
  readonly tickets: number;
  readonly background: Uint8Array;
  /** Tickets a second of the browser's own print. */
  readonly own: number;
}

async function overRest(platform: Platform, { tickets, background, own }: Material): Promise<Row[]> {
  const { baseUrl, progress, processes } = platform;
  const base = `${baseUrl}${eventPath}`;
  const numbers = Array.from({ length: tickets }, (_, index) => index + 1);
  await sendRecords(baseUrl, [...groundwork, ...layoutRecords(background), ...numbers.map(orderWithPhoto)]);
  const parts = numbers.map((orderposition) => ({ orderposition }));
  const render = async (asked: readonly object[]) => {
    const { download } = await ask<{ download: string }>(`${base}/ticketpdfrenderer/render_batch/`, { parts: asked });
    return untilDone(download);
  };
  progress.update("rendering one at a time…");
  const single: number[] = [];
  for (let round = 0; round <= singles; round += 1)
    single.push(await timed(() => untilDone(`${base}/orderpositions/1/download/pdf/`)));
  const [first = Number.NaN] = single.splice(0, 1);
  let bytes = 0;
  const took: number[] = [];
  const memory = await peakOfAll(processes()[0]?.pid ?? 0, async () => {
    for (let round = 1; round <= rounds; round += 1) {
      progress.update(`rendering, ${round} of ${rounds}`);
      took.push(await timed(async () => (bytes = (await render(parts)).length)));
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
    atMost("one ticket over REST", quantile(single, 0.5), promised.singleMs, "ms"),
    atMost("  the first one after the start", first, promised.coldMs, "ms"),
    atMost(`${tickets} tickets over REST, from the request to the file`, best, promised.seconds * share, "s"),
    figure("  mostly", `${(quantile(took, 0.5) / 1000).toFixed(2)} s`),
    atLeast("  ratio to the browser's own print", tickets / best / own, promised.ratio, "times"),
    atMost("  size of the file", bytes / 1024 / 1024, promised.megabytes * share, "MiB"),
    atMost("  peak memory with the browser", memory, promised.memory, "MiB"),
    atMost(`${sold} tickets made for sale offline`, Math.min(...made) / 1000, promisedOffline.madeSeconds * share, "s"),
    atMost("  printed", printed / 1000, promisedOffline.printedSeconds * share, "s"),
  ];
}

/** The limit: pages with the same contents in one plain document that a browser lays out and prints, without a background. */
async function measureOwn(count: number): Promise<number> {
  const browser = await startPageBrowser();
  try {
    const page = await browser.newPage();
    const print = async (html: string) => {
      await page.setContent(html, { timeout: 0 });
      await page.pdf({ preferCSSPageSize: true, printBackground: true, timeout: 0 });
    };
    await print(await drawPlainPages(1));
    const html = await drawPlainPages(count);
    return count / ((await timed(() => print(html))) / 1000);
  } finally {
    await browser.close();
  }
}
