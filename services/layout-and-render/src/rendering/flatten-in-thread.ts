import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { Turns } from "@tessera/kit/turns";
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
  /** How many are prepared at a time, each in a thread of its own. One organizer has one of them. */
  readonly threads: number;
}

const usualLimits: FlattenLimits = { maxMs: 8000, maxHeap: 160, idleMs: 60_000, threads: 2 };

/** How long a background waits for those of its own organizer, and for its turn among others. */
export const waitMs = 30_000;

/** Loading the library takes half a second; a machine that needs longer than this is overloaded. */
const longestLoadMs = 20_000;

/** After a build, too, this file and the thread's have the same extension. */
const program = new URL(`flatten-program${extname(import.meta.url)}`, import.meta.url);

/** Prepares a background of an organizer. */
export type PrepareBackground = (bytes: Uint8Array, party: string) => Promise<PreparedBackground>;

/**
 * Prepares backgrounds in threads of their own, so that a hostile file stops nothing else and uses no more memory than
 * allowed. Organizers take turns: slow files of one leave a thread to others.
 */
export function openFlattener(limits: FlattenLimits = usualLimits): PrepareBackground {
  const turns = new Turns({ total: limits.threads, each: 1, waitMs, busy: overloaded });
  const free = Array.from({ length: limits.threads }, () => openThread(limits));
  return async (bytes, party) => {
    const plain = await turns.run({ party, amount: 1 }, async () => {
      const flatten = free.pop() ?? openThread(limits);
      try {
        return await flatten(bytes);
      } finally {
        // The one that was used last is warm.
        free.push(flatten);
      }
    });
    return readPrepared(plain);
  };
}

/** A thread that begins with its first file. One that a file has used up is replaced for the next. */
function openThread(limits: FlattenLimits): (bytes: Uint8Array) => Promise<PlainBackground> {
  let thread: Promise<Worker> | undefined;
  let idle: NodeJS.Timeout | undefined;

  async function end(): Promise<void> {
    const ending = thread;
    thread = undefined;
    const worker = await ending?.catch(() => undefined);
    await worker?.terminate();
  }

  return async (bytes) => {
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
  };
}

export function overloaded() {
  return fault("background_overloaded", "The background could not be prepared in time. Try again.", {
    retryAfterMs: 5000,
  });
}

async function start({ maxHeap }: FlattenLimits): Promise<Worker> {
  const worker = new Worker(program, {
    resourceLimits: { maxOldGenerationSizeMb: maxHeap, maxYoungGenerationSizeMb: 16 },
    // Output of a parser must not reach the log.
    stdout: true,
    stderr: true,
  });
  await next(worker, longestLoadMs, overloaded);
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
