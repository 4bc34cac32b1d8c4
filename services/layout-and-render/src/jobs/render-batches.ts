import { Fault, isTransient } from "@tessera/kit/fault";
import { type Effect, WorkFailed, type WorkInHand, workOn } from "@tessera/kit/jobs/work-on";
import type { Log } from "@tessera/kit/telemetry/log";
import { backoff } from "@tessera/kit/waiting/backoff";
import { pause } from "@tessera/kit/waiting/pause";
import { type LeftOut, PartsLeftOut, type PrintTools, printTickets } from "../printing/printing.ts";
import { drawKey, type Rendered, type RenderOrder, renderBatch, renderFew } from "../printing/render-work.ts";

export interface JobTools extends PrintTools {
  readonly log: Log;
  /** How long a job retries transient failures, in milliseconds. */
  readonly patienceMs?: number;
}

/** Only the first ones are reported. */
const mostWarnings = 200;

/** The interval of progress updates, in milliseconds. */
const progressMs = 500;

const usualPatienceMs = 5 * 60_000;

const pauses = { firstMs: 200, longestMs: 10_000 };

/** Faults that the job itself may cause, so that it is retried few times only. */
const ownFaults: ReadonlySet<string> = new Set(["browser_lost", "background_replaced"]);
const mostOwnFaults = 3;

/** Renders tickets into one file. The file is streamed to the store, and readable when complete. */
export const renderBatches = workOn(renderBatch, renderPatiently);
export const renderFews = workOn(renderFew, (job: WorkInHand<RenderOrder>, tools: JobTools) =>
  renderPatiently(job, tools, { isSmall: true }),
);

interface Size {
  readonly isSmall: boolean;
}

/** Retries while a dependency is down: the database, the file store or the browser. */
async function renderPatiently(
  job: WorkInHand<RenderOrder>,
  tools: JobTools,
  size: Size = { isSmall: false },
): Promise<Effect<Rendered>> {
  const { patienceMs = usualPatienceMs } = tools;
  const begun = performance.now();
  const leftOut: LeftOut | undefined = job.payload.skipsFailed === true ? new Map() : undefined;
  let own = 0;
  for (let failures = 1; ; failures += 1) {
    try {
      return await render(job, tools, { ...size, leftOut });
    } catch (error) {
      const isBug = error instanceof PartsLeftOut || error instanceof WorkFailed;
      if (isBug && error.cause instanceof Error && !(error.cause instanceof Fault))
        tools.log.error("tickets could not be drawn", { id: job.id, error: error.cause });
      if (error instanceof PartsLeftOut) continue;
      if (!isTransient(error) || job.signal.aborted) throw error;
      if (ownFaults.has(error.code)) own += 1;
      const restMs = backoff(pauses, failures);
      if (own >= mostOwnFaults || performance.now() - begun + restMs > patienceMs)
        throw new WorkFailed(error.message, { cause: error });
      tools.log.warn("tickets are rendered again: something was away", { id: job.id, failures, error });
      await pause(restMs, job.signal);
      job.signal.throwIfAborted();
    }
  }
}

async function render(
  { id, payload, signal, ifLost, keepFile, progress }: WorkInHand<RenderOrder>,
  tools: JobTools,
  { isSmall, leftOut }: Size & { readonly leftOut: LeftOut | undefined },
): Promise<Effect<Rendered>> {
  const warnings: string[] = [];
  const total = payload.parts.length;
  let done = 0;
  let toldAt = performance.now();

  async function* content(): AsyncGenerator<Buffer> {
    const options = {
      signal,
      isSmall,
      leftOut,
      onPart: (count: number) => {
        done = count;
      },
      onWarning: (warning: string) => {
        if (warnings.length < mostWarnings) warnings.push(warning);
      },
    };
    for await (const piece of printTickets(payload, tools, options)) {
      if (performance.now() - toldAt > progressMs) {
        toldAt = performance.now();
        await progress({ done, total });
      }
      yield piece;
    }
  }

  const fileKey = drawKey(id);
  ifLost(() => tools.files.remove([fileKey]));
  const { size } = await tools.files.put(fileKey, keepFile(content()), { contentType: "application/pdf" });
  const lacking = [...(leftOut ?? [])].sort(([one], [other]) => one - other);
  const all = [...lacking.map(([, why]) => why), ...warnings];
  return async () => ({
    fileKey,
    size,
    warnings: all.slice(0, mostWarnings),
    leftOut: lacking.map(([number]) => number),
  });
}
