import { programBeside, Thread, ThreadFailure } from "@tessera/kit/threads/thread";
import { fault } from "../faults.ts";
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

const program = programBeside(import.meta.url, "flatten-program");

/** Prepares backgrounds of organizers. */
export type PrepareBackground = (bytes: Uint8Array) => Promise<PreparedBackground>;

/**
 * Prepares backgrounds in a thread of their own, one after the other, so that a hostile file stops nothing else and uses no
 * more memory than allowed.
 */
export function openFlattener({ maxMs, ...limits }: FlattenLimits = usualLimits): PrepareBackground {
  const thread = new Thread<Uint8Array, PlainBackground>({ program, maxLoadMs: longestLoadMs, ...limits });
  return async (bytes) => readPrepared(await thread.ask(bytes, { maxMs }).catch(refuse));
}

function refuse(cause: unknown): never {
  if (cause instanceof ThreadFailure && cause.trouble === "late") {
    const message = "The background could not be prepared in time. Try again.";
    throw fault("background_overloaded", message, { cause, retryAfterMs: 5000 });
  }
  throw fault("background_unusable", "The background of the layout cannot be read: set another PDF.", { cause });
}
