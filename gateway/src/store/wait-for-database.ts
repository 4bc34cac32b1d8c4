import type { Fault } from "@tessera/kit/fault";
import { waitAtMost } from "@tessera/kit/waiting/wait-at-most";
import { fault } from "../faults.ts";

/** A gate waits for this before its scan is sent. A healthy database answers within milliseconds. */
const patienceMs = 4000;

/** Waits for the database as long as a request can. A frozen one keeps its connections: only a timeout detects it. */
export function waitForDatabase<T>(answer: Promise<T>, { ms = patienceMs }: { ms?: number } = {}): Promise<T> {
  return waitAtMost(ms, answer, databaseTooSlow);
}

function databaseTooSlow(): Fault {
  return fault("database_unavailable", "the database does not answer", { retryAfterMs: 1000 });
}
