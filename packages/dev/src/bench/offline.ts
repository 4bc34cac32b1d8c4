import { join } from "node:path";
import { columns } from "@tessera/cli/columns";
import { batchGround, makeBatch, type Rendered, renderBatch } from "./offline-batches.ts";
import { copyBatch } from "./offline-copy.ts";
import { measureParts } from "./offline-parts.ts";
import { onEmptyPlatform } from "./on-empty-platform.ts";

/** What is promised of ten thousand tickets. */
const limit = { tickets: 10_000, createdSeconds: 3, renderedSeconds: 10, megabytes: 256 } as const;

/** Compilers and caches are warm after them. */
const warming = { batches: 2, tickets: 2000 } as const;

const rounds = 5;

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
    [
      "one process per part, on Kafka: batch, rendered",
      `${seconds(parts.createdMs)}, ${seconds(parts.renderedMs)}`,
      "",
    ],
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
