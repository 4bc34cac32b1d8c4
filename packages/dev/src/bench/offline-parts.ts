import { batchGround, makeBatch, renderBatch } from "./offline-batches.ts";
import { onCluster, oneOfEach, smallHeap } from "./on-cluster.ts";
import { sendRecords } from "./on-empty-platform.ts";
import { usageOf } from "./usage.ts";

/** What the parts take, each in a process of its own. */
export interface Parts {
  readonly createdMs: number;
  readonly renderedMs: number;
  /** Without that of the browser. */
  readonly memory: readonly { readonly name: string; readonly megabytes: number }[];
}

/** Makes batches and renders one on one process for each part, with PostgreSQL and Kafka; nothing is left of them. */
export function measureParts({ tickets }: { readonly tickets: number }): Promise<Parts> {
  return onCluster({ replicas: oneOfEach, nodeOptions: smallHeap }, async ({ baseUrl, processes }) => {
    await sendRecords(baseUrl, batchGround);
    const made = [];
    for (let round = 0; round < 4; round += 1) made.push(await makeBatch(baseUrl, tickets));
    const quickest = made.reduce((one, other) => (one.ms < other.ms ? one : other));
    const rendered = await renderBatch(baseUrl, quickest.id);
    const memory = await Promise.all(
      processes.map(async ({ plan, pid }) => ({
        name: plan.service,
        megabytes: (await usageOf(pid() ?? 0)).peakMegabytes,
      })),
    );
    return { createdMs: quickest.ms, renderedMs: rendered.ms, memory };
  });
}
