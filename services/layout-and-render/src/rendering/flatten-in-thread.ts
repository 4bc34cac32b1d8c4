import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { fault } from "../faults.ts";
import type { FlattenMessage } from "./flatten-program.ts";
import { type PlainBackground, type PreparedBackground, readPrepared } from "./prepare-background.ts";

export interface FlattenLimits {
  /** How long a file may take. */
  readonly maxMs: number;
  /** How large the heap of the thread may grow, in MiB. */
  readonly maxHeap: number;
  /** A thread without work ends after this time. */
  readonly idleMs: number;
}

const usualLimits: FlattenLimits = { maxMs: 8000, maxHeap: 160, idleMs: 60_000 };

/** Loading the library takes half a second; a machine that needs longer than this is overloaded. */
const longestLoadMs = 20_000;

/** After a build, too, this file and the thread's have the same extension. */
const program = new URL(`flatten-program${extname(import.meta.url)}`, import.meta.url);

/** Prepares backgrounds of organizers. */
export type PrepareBackground = (bytes: Uint8Array) => Promise<PreparedBackground>;

/**
 * Prepares backgrounds in a thread of their own, one after the other, so that a hostile file stops nothing else and uses no
 * more memory than allowed. A thread that a file has used up is replaced for the next one.
 */
export function openFlattener(limits: FlattenLimits = usualLimits): PrepareBackground {
  let thread: Promise<Worker> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let idle: NodeJS.Timeout | undefined;

  async function end(): Promise<void> {
    const ending = thread;
    thread = undefined;
    const worker = await ending?.catch(() => undefined);
    await worker?.terminate();
  }

  async function flatten(bytes: Uint8Array): Promise<PlainBackground> {
    clearTimeout(idle);
    try {
      thread ??= start(limits);
      const worker = await thread;
      return await ask(worker, bytes, limits);
    } catch (cause) {
      await end();
      throw cause;
    } finally {
      idle = setTimeout(() => void end(), limits.idleMs);
      idle.unref();
    }
  }

  return async (bytes) => {
    const mine = last.then(() => flatten(bytes));
    last = mine.catch(() => undefined);
    return readPrepared(await mine);
  };
}

async function start({ maxHeap }: FlattenLimits): Promise<Worker> {
  const worker = new Worker(program, {
    resourceLimits: { maxOldGenerationSizeMb: maxHeap, maxYoungGenerationSizeMb: 16 },
    // Output of a parser must not reach the log.
    stdout: true,
    stderr: true,
  });
  await next(worker, longestLoadMs, () =>
    fault("background_overloaded", "The background could not be prepared in time. Try again.", { retryAfterMs: 5000 }),
  );
  return worker;
}

async function ask(worker: Worker, bytes: Uint8Array, { maxMs }: FlattenLimits): Promise<PlainBackground> {
  worker.postMessage(bytes);
  const message = await next(worker, maxMs, () => unusable("it takes too long"));
  if (message.kind === "done") return message.result;
  throw unusable(message.kind === "unusable" ? message.problem : "it cannot be read");
}

function unusable(problem: string) {
  const message = "The background of the layout cannot be read: set another PDF.";
  return fault("background_unusable", message, { cause: new Error(problem) });
}

/** The next message of a thread. A thread that ends was used up by its file. */
async function next(worker: Worker, ms: number, late: () => Error): Promise<FlattenMessage> {
  const settled = new AbortController();
  worker.ref();
  try {
    return await new Promise<FlattenMessage>((resolve, reject) => {
      const lost = () => reject(unusable("it takes too much memory"));
      const timer = setTimeout(() => reject(late()), ms);
      settled.signal.addEventListener("abort", () => {
        clearTimeout(timer);
        worker.off("message", resolve).off("exit", lost);
      });
      worker.once("message", resolve).once("exit", lost);
      // The end follows.
      if (worker.listenerCount("error") === 0) worker.on("error", () => undefined);
    });
  } finally {
    settled.abort();
    // A process may end while it has no work.
    worker.unref();
  }
}
