import { isTransient } from "@tessera/kit/fault";

/** Without a database a retry of every scan alone would only take longer. A conflict concerns single rows. */
export function isOutage(error: unknown): boolean {
  return isTransient(error) && error.kind !== "conflict";
}
