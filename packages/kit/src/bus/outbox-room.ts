import type { Queryable } from "../pg/queryable.ts";
import { pause } from "../waiting/pause.ts";
import { readOutbox } from "./outbox-rows.ts";

const mostWaiting = 2000;

const restMs = 50;

/** Backpressure: with more facts in the outbox background work does not publish, because the facts of requests would queue behind its own. */
export async function hasOutboxRoom(db: Queryable): Promise<boolean> {
  const { waiting } = await readOutbox(db, { atMost: mostWaiting });
  return waiting < mostWaiting;
}

export async function untilOutboxRoom(db: Queryable, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !(await hasOutboxRoom(db))) await pause(restMs, signal);
}
