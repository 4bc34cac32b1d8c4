import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Collects all garbage of this process at once. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

/** Whether nothing holds an object any more. */
export async function isCollected(reference: WeakRef<object>): Promise<boolean> {
  // What a weak reference was asked for stays until the end of the turn.
  await turn();
  collectGarbage();
  return reference.deref() === undefined;
}
