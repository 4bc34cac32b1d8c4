import { setImmediate as turnOfLoop } from "node:timers/promises";
import { currentContext } from "../context.ts";

/** What else waits for the event loop is delayed by no more than this, and the last item. */
const sliceMs = 5;

/**
 * Goes through items whose handling takes long in sum, in slices: between two of them the event loop runs other work. Throws
 * when the caller no longer waits.
 */
export async function inSlices<T>(items: Iterable<T>, handle: (item: T) => void): Promise<void> {
  let until = performance.now() + sliceMs;
  for (const item of items) {
    if (performance.now() >= until) {
      await turnOfLoop();
      currentContext().signal?.throwIfAborted();
      until = performance.now() + sliceMs;
    }
    handle(item);
  }
}

export async function mapInSlices<T, U>(items: readonly T[], make: (item: T, index: number) => U): Promise<U[]> {
  const made: U[] = [];
  await inSlices(items, (item) => made.push(make(item, made.length)));
  return made;
}
