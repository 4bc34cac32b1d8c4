import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { Fault } from "@tessera/kit/fault";
import type { Objection } from "./check-image.ts";
import type { Finding, SentContent } from "./examine-content.ts";
import { fault } from "./faults.ts";

export interface ExaminationLimits {
  /** How long the examination of a file may take. */
  readonly maxMs: number;
  /** How large the heap of the thread may grow, in MiB. */
  readonly maxHeap: number;
}

/** An ordinary file takes milliseconds, a PDF of 10 MiB less than a second. */
const usualLimits: ExaminationLimits = { maxMs: 5000, maxHeap: 96 };

/** Loading a parser takes half a second; a machine that needs longer than this is overloaded. */
const longestLoadMs = 15_000;

const tooComplex = "The file is too complex to be examined. Send a simpler one.";

/** After a build, too, this file and the thread's have the same extension. */
const program = new URL(`examine-content${extname(import.meta.url)}`, import.meta.url);

/** Examines files one after the other. Opening it costs nothing until the first file. */
export interface Examiner {
  /** Returns what is wrong with a file; `maxMs` may shorten the usual time for it, also to nothing. */
  examine(file: SentContent, options?: { readonly maxMs?: number }): Promise<Objection>;
  close(): Promise<void>;
}

/** What happens to a thread while it examines a file. */
type Event = { readonly finding: Finding } | { readonly error: Error };

/**
 * Examines the content of files in a thread of their own, so that a hostile file blocks no other request and uses no more
 * memory than allowed. A thread that a file has used up is replaced for the next one.
 */
export function openExaminer(limits: ExaminationLimits = usualLimits): Examiner {
  let thread: Worker | undefined;
  let onEvent: ((event: Event) => void) | undefined;

  function start(): Worker {
    const worker = new Worker(program, {
      resourceLimits: { maxOldGenerationSizeMb: limits.maxHeap, maxYoungGenerationSizeMb: 16 },
      // Output of a parser must not reach the log.
      stdout: true,
      stderr: true,
    });
    const tell = (event: Event) => {
      if (thread === worker) onEvent?.(event);
    };
    worker.on("message", (finding: Finding) => tell({ finding }));
    const ended = (cause?: unknown) => new Error("the examination of a file ended without a result", { cause });
    worker.on("error", (error) => tell({ error: error instanceof Error ? error : ended(error) }));
    worker.on("exit", () => tell({ error: ended() }));
    return worker;
  }

  async function close(): Promise<void> {
    const ended = thread;
    thread = undefined;
    await ended?.terminate();
  }

  return {
    close,
    async examine(file, { maxMs = limits.maxMs } = {}) {
      if (maxMs <= 0) return tooComplex;
      let timer: NodeJS.Timeout | undefined;
      try {
        thread ??= start();
        const worker = thread;
        const { objection } = await new Promise<{ readonly objection: Objection }>((resolve, reject) => {
          onEvent = (event) => {
            clearTimeout(timer);
            if ("error" in event) reject(event.error);
            else if (event.finding.begins) timer = setTimeout(() => reject(new UsedUp()), maxMs);
            else resolve(event.finding);
          };
          timer = setTimeout(() => reject(overloaded()), longestLoadMs);
          worker.postMessage(file);
        });
        return objection;
      } catch (error) {
        await close();
        if (error instanceof UsedUp || (error as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY")
          return tooComplex;
        throw error;
      } finally {
        clearTimeout(timer);
        onEvent = undefined;
      }
    },
  };
}

/** The time for a file is over; thrown inside this file only. */
class UsedUp extends Error {}

/** Examines one file. */
export async function examine(file: SentContent, limits: ExaminationLimits = usualLimits): Promise<Objection> {
  const examiner = openExaminer(limits);
  try {
    return await examiner.examine(file);
  } finally {
    await examiner.close();
  }
}

function overloaded(): Fault {
  return fault("examination_overloaded", "The file could not be examined in time. Send it again.", {
    retryAfterMs: 5000,
  });
}
