import { Fault } from "@tessera/kit/fault";

/** Waits for a call to another service; false: that has no such object. */
export async function isThere(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (error instanceof Fault && error.kind === "not_found") return false;
    throw error;
  }
}
