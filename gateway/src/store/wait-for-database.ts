import type { Fault } from "@tessera/kit/fault";
import { waitAtMost } from "@tessera/kit/wait-at-most";
import { fault } from "../faults.ts";

/** A gate waits for this before it waits for its scan; a database that answers at all takes milliseconds. */
const patienceMs = 4000;

/** Waits for the database as long as a request can. One that has frozen keeps its connections: nothing but time tells. */
export function waitForDatabase<T>(answer: Promise<T>, { ms = patienceMs }: { ms?: number } = {}): Promise<T> {
  return waitAtMost(ms, answer, databaseTooSlow);
}

function databaseTooSlow(): Fault {
  return fault("database_unavailable", "the database does not answer", { retryAfterMs: 1000 });
}
