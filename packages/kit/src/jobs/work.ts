import { currentContext } from "../context.ts";
import { fault } from "../faults.ts";
import type { Queryable, Tx } from "../pg/database.ts";
import { declareLock, takeLocks } from "../pg/locks.ts";
import type { WorkRange } from "./work-range.ts";
import * as reads from "./work-reads.ts";
import * as table from "./work-table.ts";

/** Turns a payload or a result into bytes and back. Every protobuf message has these functions. */
export interface Codec<T> {
  encode(value: T): { finish(): Uint8Array };
  decode(bytes: Uint8Array): T;
}

/** A kind of work, known to its callers and its workers. */
export interface Work<P, R> {
  readonly kind: string;
  readonly payload: Codec<P>;
  readonly result: Codec<R>;
  /** A worker that does not extend its lease for this time loses the work to the next worker. */
  readonly leaseMs: number;
  /** After so many tries, each a failure or the end of a worker, the work has failed. */
  readonly tries: number;
  /** How long callers can read the result. */
  readonly keepMs: number;
  /** The most of its kind at a time in one process. */
  readonly atOnce: number;
  /** Of them for one owner: slow work of one leaves room to others. Left out: all. */
  readonly atOnceEach?: number;
  /** The most that may wait for one owner. */
  readonly mostWaiting?: number;
  /** What it may store outside of the database. */
  readonly files?: FileLimits;
}

/** How much work may store, in bytes. */
export interface FileLimits {
  /** For one owner, until the results expire. One piece of work may have more than this where nothing else of its owner is stored. */
  readonly mostBytes: number;
  /** For one piece of work; left out: what its owner may store. */
  readonly mostOfOne?: number;
}

/** Unlimited tries: the largest number of the column. */
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

/** For work without a result. */
export const nothing: Codec<void> = { encode: () => ({ finish: () => new Uint8Array() }), decode: () => {} };

export interface WorkRequest<P> {
  readonly id: string;
  /** Owners take turns. */
  readonly owner: string;
  readonly payload: P;
  /** How large its file is expected to be. */
  readonly bytes?: number;
}

/** Makes transactions that add to an owner's work wait for each other. */
export const ownerLock = declareLock("tessera work");

/**
 * Enqueues work, which begins when the transaction commits. An id that was enqueued before changes nothing.
 *
 * If owners have a limit, transactions that enqueue for the same owner wait for each other until they commit. So enqueue
 * at the end of a transaction.
 */
export async function enqueueWork<P, R>(
  tx: Queryable,
  work: Work<P, R>,
  requests: readonly WorkRequest<P>[],
): Promise<void> {
  const { kind, mostWaiting, files } = work;
  const owners = [...new Set(requests.map(({ owner }) => owner))];
  const isLimited = mostWaiting !== undefined || files !== undefined;
  if (isLimited) await takeLocks(tx, { alone: owners.map((owner) => ownerLock(kind, owner)) });
  const added = await table.insert(tx, {
    kind,
    mostTries: work.tries,
    keepMs: work.keepMs,
    traceparent: currentContext().traceparent ?? null,
    rows: requests.map(({ id, owner, payload, bytes = 0 }) => ({
      ...{ id, owner, bytes },
      payload: work.payload.encode(payload).finish(),
    })),
  });
  if (added === 0 || !isLimited) return;
  for (const owner of owners) {
    if (mostWaiting !== undefined && (await table.countWaiting(tx, { kind, owner })) > mostWaiting)
      throw fault("too_much_work", `${mostWaiting} jobs of this kind wait already; try again later`, {
        retryAfterMs: 5000,
      });
    if (files !== undefined && (await table.sumBytes(tx, { kind, owner })) > files.mostBytes)
      throw fault(
        "too_many_files",
        "The files of your other jobs take too much room; try again when some have expired.",
        {
          retryAfterMs: 60_000,
        },
      );
  }
}

export type WorkState<R> = { readonly owner: string } & (
  | { readonly state: "waiting" | "expired" }
  | { readonly state: "running"; readonly done: number | null; readonly total: number | null }
  | { readonly state: "succeeded"; readonly result: R }
  /** The cause is null unless clients may read it. */
  | { readonly state: "failed"; readonly cause: string | null }
);

/** Finds a piece of work; undefined: the id is unknown, or the work expired long ago. */
export async function findWork<P, R>(db: Queryable, work: Work<P, R>, id: string): Promise<WorkState<R> | undefined> {
  return findWorkOf(db, [work], id);
}

/** Finds a piece of work that may be of several kinds, whose ids differ. */
export async function findWorkOf<P, R>(
  db: Queryable,
  works: readonly Work<P, R>[],
  id: string,
): Promise<WorkState<R> | undefined> {
  const row = await reads.find(db, { kinds: works.map(({ kind }) => kind), id });
  const result = works.find(({ kind }) => kind === row?.kind)?.result;
  if (row === undefined || result === undefined) return undefined;
  const { owner, state, done, total, cause } = row;
  if (state === "running") return { owner, state, done, total };
  if (state === "failed") return { owner, state, cause };
  if (state === "succeeded") return { owner, state, result: result.decode(row.result) };
  return { owner, state };
}

/** Finds the results of work that has succeeded, by id, as long as callers can read them. */
export async function findResults<P, R>(
  db: Queryable,
  { kind, result }: Work<P, R>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, R>> {
  const rows = await reads.findResults(db, { kind, ids });
  return new Map(rows.map((row) => [row.id, result.decode(row.result)]));
}

type Range = Omit<WorkRange, "kind">;

/** Expires work that does not run, whatever it has made; returns how much of it had a result, and how much runs. */
export async function expireWork(
  tx: Tx,
  { kind }: Pick<Work<never, unknown>, "kind">,
  range: Range,
): Promise<{ readonly results: number; readonly running: number }> {
  return table.expire(tx, { kind, ...range });
}

/**
 * Ends work, also what runs: what it was about is gone. Nothing of it is stored any more. Returns what was ended, with the results
 * that were there: callers no longer read them.
 */
export async function endWork<R>(
  tx: Queryable,
  { kind, result }: Pick<Work<never, R>, "kind" | "result">,
  range: Range,
): Promise<{ readonly id: string; readonly result: R | undefined }[]> {
  const ended = await table.end(tx, { kind, ...range });
  return ended.map((each) => ({ id: each.id, result: each.result === null ? undefined : result.decode(each.result) }));
}

/** Counts work with results that callers can read. */
export async function countResults(
  db: Queryable,
  { kind }: Pick<Work<never, unknown>, "kind">,
  range: Range,
): Promise<number> {
  return reads.countResults(db, { kind, ...range });
}

/** Finds those of these ids whose work has not ended, or has a result. */
export async function findAlive(
  db: Queryable,
  { kind }: Pick<Work<never, unknown>, "kind">,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await reads.findAlive(db, { kind, ids });
  return new Set(rows.map(({ id }) => id));
}
