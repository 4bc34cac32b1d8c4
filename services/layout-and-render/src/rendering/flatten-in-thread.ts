import { Fault } from "@tessera/kit/fault";
import { programBeside, Thread, ThreadFailure } from "@tessera/kit/threads/thread";
import { Turns } from "@tessera/kit/waiting/turns";
import type { FlatPdf } from "@tessera/sent-files/flatten-pdf";
import { fault } from "../faults.ts";

export interface FlattenLimits {
  /** The timeout of a file. */
  readonly maxMs: number;
  /** The heap limit of the thread, in MiB. */
  readonly maxHeap: number;
  /** An idle thread ends after this time. */
  readonly idleMs: number;
  /** Concurrent preparations, each in its own thread, and at most one of each organizer. */
  readonly threads: number;
}

const usualLimits: FlattenLimits = { maxMs: 8000, maxHeap: 160, idleMs: 60_000, threads: 2 };

/** How long a background waits for its turn. */
export const waitMs = 30_000;

/** Loading the library takes half a second; a machine that needs longer than this is overloaded. */
const longestLoadMs = 20_000;

const program = programBeside(import.meta.url, "flatten-program");

export type PrepareBackground = (bytes: Uint8Array, party: string) => Promise<FlatPdf>;

/**
 * Prepares backgrounds in worker threads, which bound the time and memory of a hostile file. Organizers take fair
 * turns: slow files of one leave a thread to others.
 */
export function openFlattener({ maxMs, threads, ...limits }: FlattenLimits = usualLimits): PrepareBackground {
  const turns = new Turns({ total: threads, each: 1, waitMs, busy: overloaded });
  const open = () => new Thread<Uint8Array, FlatPdf>({ program, maxLoadMs: longestLoadMs, ...limits });
  const free = Array.from({ length: threads }, open);
  return (bytes, party) =>
    turns.run({ party, amount: 1 }, async () => {
      const thread = free.pop() ?? open();
      try {
        return await thread.ask(bytes, { maxMs }).catch(refuse);
      } finally {
        // The most recently used thread is warm.
        free.push(thread);
      }
    });
}

export function overloaded(cause?: unknown) {
  return fault("background_overloaded", "The background could not be prepared in time. Try again.", {
    cause,
    retryAfterMs: 5000,
  });
}

/** Whether a background timed out, perhaps only because the machine was busy. */
export function wasTooSlow(error: unknown): boolean {
  return error instanceof Fault && error.cause instanceof ThreadFailure && error.cause.trouble === "too slow";
}

function refuse(cause: unknown): never {
  if (cause instanceof ThreadFailure && cause.trouble === "late") throw overloaded(cause);
  throw fault("background_unusable", "The background of the layout cannot be read: set another PDF.", { cause });
}
