import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { columns } from "@tessera/cli/columns";
import { copyBatch } from "./offline-copy.ts";
import { measureParts } from "./offline-parts.ts";
import { apiKey, groundwork, onEmptyPlatform, recordOf } from "./on-empty-platform.ts";

const eventPath = "/api/v1/organizers/bench/events/festival";
const batchesPath = `${eventPath}/offlinesalesbatches/`;

/** What is promised of ten thousand tickets. */
const limit = { tickets: 10_000, createdSeconds: 3, renderedSeconds: 10, megabytes: 256 } as const;

/** Compilers and caches are warm after them. */
const warming = { batches: 2, tickets: 2000 } as const;

const rounds = 5;

/** More often than clients ask, so that the wait between two questions is not measured. */
const askAgainMs = 20;

const text = (content: string, bottom: number) => ({
  ...{ type: "textcontainer", page: 1, left: 16, bottom, width: 110, height: 10, content, fontsize: 13 },
  ...{ fontfamily: "Open Sans", bold: false, italic: false, align: "left", verticalalign: "top" },
  ...{ color: [20, 20, 20], lineheight: 1, autoresize: true, splitlongwords: true },
});

/** All that a batch needs, as records. */
export const batchGround: readonly string[] = [
  ...groundwork,
  recordOf("quota", { id: 1, name: "All", size: null, items: [1], variations: [] }),
  recordOf("checkin_list", { id: 1, name: "Everything" }),
  recordOf("ticket_layout", {
    ...{ id: 1, name: "Bench", default: true },
    layout: [
      text("event_name", 272),
      text("itemvar", 261),
      text("order", 251),
      text("price", 241),
      { type: "barcodearea", left: 130, bottom: 205, size: 64, content: "secret" },
    ],
  }),
];

/**
 * Makes batches of ten thousand tickets, of which each is counted when the batch is shown, and renders one. The ratio compares
 * the time of one with a COPY of the rows that it has stored. Last, each part runs in a process of its own, and its memory is
 * read.
 */
export async function benchOffline({ tickets }: { readonly tickets: number }): Promise<void> {
  const created: number[] = [];
  const rendered: Rendered[] = [];
  let copied = Number.NaN;
  await onEmptyPlatform(async ({ baseUrl, postgres, progress, send }) => {
    await send(batchGround);
    progress.update("making batches…");
    const warmed = [];
    for (let round = 0; round < warming.batches; round += 1) warmed.push(await makeBatch(baseUrl, warming.tickets));
    for (let round = 0; round < rounds; round += 1) {
      const made = await makeBatch(baseUrl, tickets);
      created.push(made.ms);
      if (made.counted !== warming.batches * warming.tickets + (round + 1) * tickets)
        throw new Error(`the list has ${made.counted} tickets when a batch is shown`);
      warmed.push(made);
    }
    progress.update("copying the rows of a batch…");
    copied = await copyBatch({ url: postgres.url, folder: join(postgres.dataDirectory, "data") });
    const [first, , , last] = warmed;
    if (first === undefined || last === undefined) throw new Error("there is no batch to render");
    progress.update("rendering…");
    await renderBatch(baseUrl, first.id);
    for (let round = 0; round < 2; round += 1) rendered.push(await renderBatch(baseUrl, last.id));
  });
  const parts = await measureParts({ tickets });
  const [best, worst] = [Math.min(...created), Math.max(...created)];
  const quickest = rendered.reduce((one, other) => (one.ms < other.ms ? one : other));
  const share = tickets / limit.tickets;
  const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;
  const rows = [
    ["", "measured", "promised"],
    [
      `batch of ${tickets}, made and counted at gates`,
      `${seconds(best)} at best, ${seconds(worst)} at worst`,
      seconds(1000 * limit.createdSeconds * share),
    ],
    ["COPY of its rows", seconds(copied), ""],
    ["ratio to that", (best / copied).toFixed(1), ""],
    [
      "rendered, from the request to the file",
      `${seconds(quickest.ms)}, ${(quickest.bytes / 1024 / 1024).toFixed(1)} MiB`,
      seconds(1000 * limit.renderedSeconds * share),
    ],
    ["one process per part, on Kafka: batch, rendered", `${seconds(parts.createdMs)}, ${seconds(parts.renderedMs)}`, ""],
    ...parts.memory.map(({ name, megabytes }) => [
      `  peak memory of ${name}`,
      `${megabytes.toFixed(0)} MiB`,
      `${limit.megabytes} MiB`,
    ]),
  ];
  process.stdout.write(`${columns(rows)}\n`);
  const isKept =
    best < 1000 * limit.createdSeconds * share &&
    quickest.ms < 1000 * limit.renderedSeconds * share &&
    parts.memory.every(({ megabytes }) => megabytes < limit.megabytes);
  if (!isKept) process.exitCode = 1;
}

interface Made {
  readonly id: number;
  readonly ms: number;
  /** What the list of all tickets counts by then. */
  readonly counted: number;
}

/** Makes a batch, from the request until it is shown. */
export async function makeBatch(baseUrl: string, amount: number): Promise<Made> {
  const started = performance.now();
  const asked = { item: 1, layout: 1, sales_channel: "web", amount };
  const { check } = await ask<{ check: string }>(`${baseUrl}${batchesPath}`, asked);
  const { id } = await untilDone(check, (answer) => answer.json() as Promise<{ id: number }>);
  const ms = performance.now() - started;
  const status = await ask<{ position_count: number }>(`${baseUrl}${eventPath}/checkinlists/1/status/`);
  return { id, ms, counted: status.position_count };
}

interface Rendered {
  readonly ms: number;
  readonly bytes: number;
}

/** Renders a batch, from the request to the last byte of the file. */
export async function renderBatch(baseUrl: string, id: number): Promise<Rendered> {
  const started = performance.now();
  const { download } = await ask<{ download: string }>(`${baseUrl}${batchesPath}${id}/render/`, {});
  const { byteLength } = await untilDone(download, (answer) => answer.arrayBuffer());
  return { ms: performance.now() - started, bytes: byteLength };
}

const headers = { authorization: `Token ${apiKey}`, "content-type": "application/json" };

async function untilDone<T>(url: string, read: (answer: Response) => Promise<T>): Promise<T> {
  for (;;) {
    const answer = await fetch(url, { headers });
    if (answer.status === 200) return read(answer);
    const shown = await answer.text();
    if (answer.status !== 409) throw new Error(`${url} answered ${answer.status} ${shown}`);
    await sleep(askAgainMs);
  }
}

async function ask<T>(url: string, body?: object): Promise<T> {
  const answer = await fetch(url, {
    headers,
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}
