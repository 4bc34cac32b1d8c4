import type { Db, Tx } from "../pg/database.ts";
import { takeLocks } from "../pg/locks.ts";
import { ownerLock, type Work } from "./work.ts";
import * as table from "./work-table.ts";

export interface WorkInHand<P> {
  readonly id: string;
  readonly owner: string;
  readonly payload: P;
  /** The number of this try, from 1. */
  readonly tries: number;
  /** Aborts when the lease is lost, and when the process stops. A failure after that does not count as a try. */
  readonly signal: AbortSignal;
  /** Stores something before the end, in a transaction that fails when the lease is lost. */
  step<T>(store: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Undoes what is outside of the database, for instance a file, if the lease turns out to be lost: by then what the work needs may
   * have been erased.
   */
  ifLost(undo: () => Promise<unknown>): void;
  /**
   * Counts what is stored of content while it is read; once it is more than the work may have, or than is left to its owner,
   * the work fails.
   */
  keepFile(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  progress(at: { readonly done: number; readonly total: number }): Promise<void>;
}

/** Stores the outcome of work and returns its result. It runs in the transaction that ends the work: once, or not at all. */
export type Effect<R> = (tx: Tx) => Promise<R>;

export interface Worker {
  readonly work: Pick<Work<never, unknown>, "kind" | "leaseMs" | "atOnce" | "atOnceEach">;
  perform(claimed: table.ClaimedRow, hand: { db: Db; claim: table.Claim; signal: AbortSignal }): Promise<void>;
}

/** Declares a worker: `run` does the long part, outside of any transaction, and returns the effect. */
export function workOn<P, R, D = unknown>(
  work: Work<P, R>,
  run: (job: WorkInHand<P>, deps: D) => Promise<Effect<R>>,
): (deps: D) => Worker {
  return (deps) => ({
    work,
    async perform(claimed, { db, claim, signal }) {
      const { id, owner, tries } = claimed;
      const step = <T>(store: (tx: Tx) => Promise<T>) =>
        db.transaction(async (tx) => {
          if (!(await table.hold(tx, claim))) throw new LeaseLost();
          return store(tx);
        });
      const progress = async (at: { readonly done: number; readonly total: number }) => {
        if (!(await table.noteProgress(db, claim, at))) throw new LeaseLost();
      };
      let bytes = 0;
      async function* keepFile(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
        const { mostOfOne = Number.POSITIVE_INFINITY } = work.files ?? {};
        let [stored, reserved] = [0, claimed.bytes];
        for await (const piece of content) {
          stored += piece.length;
          if (stored > mostOfOne) throw new WorkFailed(`The file is larger than ${mostOfOne / 1024 ** 2} MiB.`);
          if (stored > reserved) {
            reserved = await step((tx) => reserveBytes(tx, { work, owner, claim, stored }));
          }
          yield piece;
        }
        bytes = stored;
      }
      const payload = work.payload.decode(claimed.payload);
      const undos: (() => Promise<unknown>)[] = [];
      const ifLost = (undo: () => Promise<unknown>) => void undos.push(undo);
      try {
        const effect = await run({ id, owner, payload, tries, signal, step, ifLost, keepFile, progress }, deps);
        await step(async (tx) => table.succeed(tx, claim, work.result.encode(await effect(tx)).finish(), { bytes }));
      } catch (error) {
        if (error instanceof LeaseLost) for (const undo of undos) await undo();
        throw error;
      }
    },
  });
}

/** In bytes: a file that is written reserves space in steps of this size. */
const reservedAtOnce = 8 * 1024 * 1024;

interface Reservation<P, R> {
  readonly work: Work<P, R>;
  readonly owner: string;
  readonly claim: table.Claim;
  readonly stored: number;
}

/** Reserves space for what is stored, and for the next step. Returns how many bytes may be stored before the next call. */
async function reserveBytes<P, R>(
  tx: Tx,
  { work: { kind, files }, owner, claim, stored }: Reservation<P, R>,
): Promise<number> {
  if (files === undefined) return Number.POSITIVE_INFINITY;
  await takeLocks(tx, { alone: [ownerLock(kind, owner)] });
  const others = await table.sumBytes(tx, { kind, owner, except: claim.id });
  if (others > 0 && others + stored > files.mostBytes)
    throw new WorkFailed("The files of your other jobs take too much room; try again when some have expired.");
  // Where little space is left, half of it stays free for other jobs of the owner.
  const room = others === 0 ? Number.POSITIVE_INFINITY : files.mostBytes - others - stored;
  const reserved = stored + Math.min(reservedAtOnce, Math.ceil(room / 2));
  await table.reserve(tx, claim, reserved);
  return reserved;
}

/** Thrown by work that no further try can do. Clients see the message. */
export class WorkFailed extends Error {
  override readonly name = "WorkFailed";
}

/** Thrown by a step whose work is another worker's by now. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}
