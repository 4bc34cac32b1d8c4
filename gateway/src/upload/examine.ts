import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { Fault } from "@tessera/kit/fault";
import { fault } from "../faults.ts";
import type { Objection } from "./check-image.ts";
import type { Examination, Finding } from "./examine-content.ts";

export interface ExaminationLimits {
  /** How long an examination may take. */
  readonly maxMs: number;
  /** How large its heap may grow, in MiB. */
  readonly maxHeap: number;
}

/** An ordinary file takes milliseconds, a PDF of 10 MiB less than a second. */
const usualLimits: ExaminationLimits = { maxMs: 5000, maxHeap: 96 };

/** Loading a parser takes half a second; a machine that needs longer than this is overloaded. */
const longestLoadMs = 15_000;

const tooComplex = "The file is too complex to be examined. Send a simpler one.";

/** After a build, too, this file and the thread's have the same extension. */
const program = new URL(`examine-content${extname(import.meta.url)}`, import.meta.url);

/**
 * Examines the content of a file in its own thread, so that a hostile file blocks no other request and uses no more
 * memory than allowed. The bytes are transferred to that thread. Returns what is wrong with the file.
 */
export async function examine(examination: Examination, limits: ExaminationLimits = usualLimits): Promise<Objection> {
  const worker = new Worker(program, {
    workerData: examination,
    transferList: [examination.bytes.buffer as ArrayBuffer],
    resourceLimits: { maxOldGenerationSizeMb: limits.maxHeap, maxYoungGenerationSizeMb: 16 },
    // Output of a parser must not reach the log.
    stdout: true,
    stderr: true,
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Objection>((resolve, reject) => {
      timer = setTimeout(() => reject(overloaded()), longestLoadMs);
      worker.on("message", (finding: Finding) => {
        clearTimeout(timer);
        if (finding.begins) timer = setTimeout(() => resolve(tooComplex), limits.maxMs);
        else resolve(finding.objection);
      });
      worker.on("error", (error: NodeJS.ErrnoException) => {
        if (error.code === "ERR_WORKER_OUT_OF_MEMORY") resolve(tooComplex);
        else reject(error);
      });
      worker.on("exit", () => reject(new Error("the examination of a file ended without a result")));
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}

function overloaded(): Fault {
  return fault("uploads_busy", "The file could not be examined in time. Send it again.", {
    retryAfterMs: 5000,
  });
}
