import type { Fault } from "@tessera/kit/fault";
import { programBeside, Thread, ThreadFailure } from "@tessera/kit/threads/thread";
import type { SentContent } from "./examine-content.ts";
import type { Examined } from "./examined.ts";
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

const tooComplex: Examined = { ok: false, objection: "The file is too complex to be examined. Send a simpler one." };

const program = programBeside(import.meta.url, "examine-content");

/** Examines files one after the other. Opening it costs nothing until the first file. */
export interface Examiner {
  /** Returns what is taken of a file, or what is wrong with it; `maxMs` may shorten the usual time for it, also to nothing. */
  examine(file: SentContent, options?: { readonly maxMs?: number }): Promise<Examined>;
  close(): Promise<void>;
}

/**
 * Examines the content of files in a thread of their own, so that a hostile file blocks no other request and uses no more
 * memory than allowed.
 */
export function openExaminer(limits: ExaminationLimits = usualLimits): Examiner {
  const thread = new Thread<SentContent, Examined>({ program, maxLoadMs: longestLoadMs, maxHeap: limits.maxHeap });
  return {
    close: () => thread.end(),
    async examine(file, { maxMs = limits.maxMs } = {}) {
      if (maxMs <= 0) return tooComplex;
      try {
        return await thread.ask(file, { maxMs });
      } catch (error) {
        const trouble = error instanceof ThreadFailure ? error.trouble : undefined;
        if (trouble === "too slow" || trouble === "too much memory") return tooComplex;
        throw trouble === "late" ? overloaded(error) : error;
      }
    },
  };
}

export async function examine(file: SentContent, limits: ExaminationLimits = usualLimits): Promise<Examined> {
  const examiner = openExaminer(limits);
  try {
    return await examiner.examine(file);
  } finally {
    await examiner.close();
  }
}

function overloaded(cause: unknown): Fault {
  return fault("examination_overloaded", "The file could not be examined in time. Send it again.", {
    cause,
    retryAfterMs: 5000,
  });
}
