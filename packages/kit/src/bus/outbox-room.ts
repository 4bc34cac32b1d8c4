import type { Queryable } from "../pg/queryable.ts";
import { pause } from "../waiting/pause.ts";
import { readOutbox } from "./outbox-rows.ts";

const mostWaiting = 2000;

const restMs = 50;

/** Whether work in the background may publish: with more facts waiting it rests, because facts of others would wait behind its own. */
export async function hasOutboxRoom(db: Queryable): Promise<boolean> {
  const { waiting } = await readOutbox(db, { atMost: mostWaiting });
  return waiting < mostWaiting;
}

/** Waits until work in the background may publish, or the signal aborts. */
export async function untilOutboxRoom(db: Queryable, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !(await hasOutboxRoom(db))) await pause(restMs, signal);
}
