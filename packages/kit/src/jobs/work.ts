import { currentContext } from "../context.ts";
import { fault } from "../faults.ts";
import type { Queryable, Tx } from "../pg/database.ts";
import { declareLock, takeLocks } from "../pg/locks.ts";
import * as reads from "./work-reads.ts";
import * as table from "./work-table.ts";

/** How a payload or a result becomes bytes and back: every protobuf message is one. */
export interface Codec<T> {
  encode(value: T): { finish(): Uint8Array };
  decode(bytes: Uint8Array): T;
}

/** A kind of work, as those who ask for it and those who do it agree on it. */
export interface Work<P, R> {
  readonly kind: string;
  readonly payload: Codec<P>;
  readonly result: Codec<R>;
  /** A worker that has not said for so long that it is at work has lost it to the next one. */
  readonly leaseMs: number;
  /** It has failed when it was claimed so often, and each time its worker failed or ended. */
  readonly tries: number;
  /** How long its end and its result can be read. */
  readonly keepMs: number;
  /** How many of its kind one process does at a time. */
  readonly atOnce: number;
  /** How many may wait for one owner. */
  readonly mostWaiting?: number;
}

/** For work that must be done however often it fails. It is the largest number that the column takes. */
export const untilDone = 2 ** 31 - 1;

export function defineWork<P, R>(kind: string, definition: Omit<Work<P, R>, "kind">): Work<P, R> {
  return { kind, ...definition };
}

export function json<T>(): Codec<T> {
  return {
    encode: (value) => ({ finish: () => Buffer.from(JSON.stringify(value)) }),
    decode: (bytes) => JSON.parse(Buffer.from(bytes).toString()) as T,
  };
}

/** The result of work that has none. */
export const nothing: Codec<void> = { encode: () => ({ finish: () => new Uint8Array() }), decode: () => {} };

/** A piece of work that is asked for. */
export interface WorkRequest<P> {
  readonly id: string;
  /** Whose work it is: owners take turns. */
  readonly owner: string;
  readonly payload: P;
}

const ownerLock = declareLock("tessera work");

/**
 * Enqueues work, which begins when the transaction commits; what has an id that was enqueued before is left alone.
 *
 * Where owners have a limit, those who enqueue for one wait for each other until they commit: so enqueue last.
 */
export async function enqueueWork<P, R>(tx: Tx, work: Work<P, R>, requests: readonly WorkRequest<P>[]): Promise<void> {
  const { kind, mostWaiting } = work;
  const owners = [...new Set(requests.map(({ owner }) => owner))];
  if (mostWaiting !== undefined) await takeLocks(tx, { alone: owners.map((owner) => ownerLock(kind, owner)) });
  const added = await table.insert(tx, {
    kind,
    mostTries: work.tries,
    keepMs: work.keepMs,
    traceparent: currentContext().traceparent ?? null,
    rows: requests.map(({ id, owner, payload }) => ({ id, owner, payload: work.payload.encode(payload).finish() })),
  });
  if (added === 0 || mostWaiting === undefined) return;
  for (const owner of owners) {
    if ((await table.countWaiting(tx, { kind, owner })) <= mostWaiting) continue;
    throw fault("too_much_work", `${mostWaiting} jobs of this kind wait already; try again later`, {
      retryAfterMs: 5000,
    });
  }
}

/** How far a piece of work is, for those who asked for it. */
export type WorkState<R> = { readonly owner: string } & (
  | { readonly state: "waiting" | "expired" }
  | { readonly state: "running"; readonly done: number | null; readonly total: number | null }
  | { readonly state: "succeeded"; readonly result: R }
  /** The cause is there where it is meant for clients. */
  | { readonly state: "failed"; readonly cause: string | null }
);

/** Finds a piece of work; undefined: the id is unknown, or its work expired long ago. */
export async function findWork<P, R>(
  db: Queryable,
  { kind, result }: Work<P, R>,
  id: string,
): Promise<WorkState<R> | undefined> {
  const row = await reads.find(db, { kind, id });
  if (row === undefined) return undefined;
  const { owner, state, done, total, cause } = row;
  if (state === "running") return { owner, state, done, total };
  if (state === "failed") return { owner, state, cause };
  if (state === "succeeded") return { owner, state, result: result.decode(row.result) };
  return { owner, state };
}

/** Work that has not ended for long: what to look at when clients wait. */
export interface StuckWork {
  readonly kind: string;
  readonly state: "waiting" | "running";
  readonly count: number;
  /** How long ago the oldest was enqueued. */
  readonly seconds: number;
  /** Why a try of one of them failed last; null: none has. */
  readonly cause: string | null;
}

export async function findStuckWork(db: Queryable, { olderThanMs }: { olderThanMs: number }): Promise<StuckWork[]> {
  return reads.findOld(db, { olderThanMs });
}
