import { BatchSlots } from "@tessera/kit/batch-slots";
import { type Expiring, Expiry } from "@tessera/kit/expiry";
import { type Choice, FairQueue } from "@tessera/kit/fair-queue";
import { Fault } from "@tessera/kit/fault";
import type { Client } from "@tessera/kit/rpc";
import type { Scan, ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { Scans } from "@tessera/protos/services";
import { fault } from "../../faults.ts";
import { Pace } from "./pace.ts";
import { shareDocuments } from "./share-documents.ts";

/**
 * Has one scan decided. `credential` names who sent it. Where its scanner has gone, it is not sent any more: another gateway may have
 * told the scanner something else by now.
 */
export type RedeemScan = (scan: Scan, credential: string, isGone?: () => boolean) => Promise<ScanOutcome>;

/** What gathers the scans of all requests. */
export interface GatheredScans {
  readonly redeem: RedeemScan;
  /** Whether `refuse` may refuse a scan now. */
  isCrowded(): boolean;
  /** Why a scan of this caller would be refused, whatever it says. */
  refuse(organizer: string, credential: string): Fault | undefined;
}

/** A call larger than this is slower per scan: the statements behind it degrade. */
const largestBatch = 64;

/** A larger scan travels alone: a message has 16 MiB. */
const largestBatchBytes = 4 * 1024 * 1024;

/** One call is decided while the next one travels; a third would only split the batches. */
const mostInFlight = 2;

/** A call that takes longer has met a replica that is slow or down: the next call does not wait for it. */
const patienceMs = 500;

/** Scans that are held back for longer return undecided, so that those that came with them are answered. */
const heldBackMs = 50;

/** Longer than the service itself waits for a scan that is held back. */
const heldBackAloneMs = 3000;

/** A scan that would wait longer is better refused at once: its scanner sends it again, or decides alone. */
const usuallyLongestWaitMs = 200;

/** More are never waiting, however fast they are decided. */
const longestQueue = 4096;

/** An organizer may have so many waiting, however many others have, and however slow it is. */
const reserved = 64;

/** What one organizer, one credential and one code on a list may have waiting, of `longestQueue`. */
const mostOf = { organizer: 2048, credential: 512, code: 64 };

/** Scans of one organizer that are held back, each in a call of its own. */
const mostAlone = 128;

/** From a scan's arrival to its answer, retries included; scanners wait a little longer. */
const scanMs = 8000;

/** One call; what is left of a scan's time is for its retry. */
const callMs = 5000;

interface PendingScan extends Expiring {
  readonly scan: Scan;
  /** Names its code on its list. */
  readonly code: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly until: number;
  readonly isGone: () => boolean;
  /** It was answered or refused. */
  isOver: boolean;
  resolve(outcome: ScanOutcome): void;
  reject(cause: Error): void;
}

/**
 * Gathers scans: those that arrive while calls are in flight go together in the
 * next one. A second call beside one under way is for many scans, or for when that
 * one takes long, so a single scan is as fast as ever.
 * Organizers take turns, so a flood of one does not delay the others. Of one code
 * on one list one scan is sent at a time, because the service decides one at a
 * time: those behind it would hold up their calls.
 *
 * When a call fails, some of its scans may have been stored. A scan with a nonce
 * is stored once however often it is sent, so it is tried once more, alone. A
 * scan that is held back is not stored; it is sent again apart from the rest.
 */
export function gatherScans(
  redeem: Client<Scans>["redeem"],
  {
    worthAnother,
    longestWaitMs = usuallyLongestWaitMs,
  }: { readonly worthAnother?: number; readonly longestWaitMs?: number } = {},
): GatheredScans {
  const queue = new FairQueue<PendingScan>();
  const open = { organizer: new Tally(), credential: new Tally(), code: new Tally(), alone: new Tally() };
  /** The scan of each code whose outcome the next one waits for. */
  const sent = new Map<string, PendingScan>();
  /** Of the calls in flight, but for those that were given up for the next ones. */
  const slots = new BatchSlots({ atOnce: mostInFlight, worthAnother, onSlow: () => send() });
  let isPlanned = false;
  /** Scans without an answer. */
  let unanswered = 0;
  const pace = new Pace();
  // A call that carries younger scans, or one in front of it in the queue, may outlast the time of a scan.
  const expiry = new Expiry<PendingScan>((late) => late.reject(undecided()));

  function send(): void {
    while (slots.mayBegin(queue.size)) {
      const batch = cutBatch();
      if (batch.length === 0) return;
      void follow(batch);
    }
  }

  async function follow(batch: readonly PendingScan[]): Promise<void> {
    const makeWay = slots.begin(batch.length);
    const timer = setTimeout(() => {
      // Another replica may decide the next scans of these codes.
      batch.forEach(letNext);
      makeWay();
      send();
    }, patienceMs);
    await decide(batch);
    clearTimeout(timer);
    makeWay();
    send();
  }

  /** Sends soon: many outcomes of one call make way for one call. */
  function plan(): void {
    if (isPlanned) return;
    isPlanned = true;
    queueMicrotask(() => {
      isPlanned = false;
      send();
    });
  }

  /** Lets the next scan of its code be sent. */
  function letNext(waiting: PendingScan): void {
    if (sent.get(waiting.code) !== waiting) return;
    sent.delete(waiting.code);
    if (open.code.of(waiting.code) > 0) plan();
  }

  function cutBatch(): PendingScan[] {
    let total = 0;
    return queue.take(largestBatch, (waiting): Choice => {
      if (!isInTime(waiting)) return "drop";
      if (sent.has(waiting.code)) return "leave";
      if (total > 0 && total + waiting.bytes > largestBatchBytes) return "leave";
      total += waiting.bytes;
      sent.set(waiting.code, waiting);
      return "take";
    });
  }

  async function decide(batch: readonly PendingScan[]): Promise<void> {
    try {
      const outcomes = await call(batch, heldBackMs);
      // One by one: the retries of a few do not hold up the next batch.
      for (const [index, waiting] of batch.entries()) void settle(waiting, outcomes[index]);
    } catch (error) {
      const isDivisible = batch.length > 1 && isTooLarge(error);
      for (const waiting of batch) void (isDivisible ? sendAlone(waiting) : retry(waiting, error));
    }
  }

  async function call(batch: readonly PendingScan[], heldBack: number): Promise<ScanOutcome[]> {
    const timeoutMs = Math.min(callMs, Math.max(...batch.map(({ until }) => until)) - Date.now());
    const scans = batch.map(({ scan }) => scan);
    const from = performance.now();
    const { outcomes } = await redeem({ scans, patienceMs: heldBack }, { timeoutMs });
    // A scan that is held back travels alone and beside the others: it says nothing of their pace.
    if (heldBack === heldBackMs) pace.note({ scans: scans.length, from, to: performance.now() });
    if (outcomes.length !== batch.length)
      throw new Error(`checkin decided ${outcomes.length} scans of ${batch.length}`);
    return shareDocuments(outcomes);
  }

  function settle(waiting: PendingScan, outcome: ScanOutcome | undefined): Promise<void> | undefined {
    switch (outcome?.outcome?.$case) {
      case undefined:
      case "failed":
        return retry(waiting, undefined);
      case "undecided":
        return sendAlone(waiting);
      case "crowded":
        waiting.reject(overloaded());
        return undefined;
      default:
        waiting.resolve(outcome as ScanOutcome);
        return undefined;
    }
  }

  /** It was held back, and nothing is stored: it waits for its ticket without others. */
  async function sendAlone(waiting: PendingScan): Promise<void> {
    const { organizer } = waiting.scan;
    if (open.alone.of(organizer) >= mostAlone) return waiting.reject(overloaded());
    open.alone.add(organizer, 1);
    try {
      while (isInTime(waiting)) {
        const [outcome] = await call([waiting], heldBackAloneMs);
        if (outcome?.outcome?.$case !== "undecided") return await settle(waiting, outcome);
      }
    } catch (error) {
      await retry(waiting, error);
    } finally {
      open.alone.add(organizer, -1);
    }
  }

  async function retry(waiting: PendingScan, cause: unknown): Promise<void> {
    if (isTooLarge(cause)) return waiting.reject(tooLarge());
    // Refused before it was looked at, and sending it again would only add to the load.
    if (cause instanceof Fault && cause.kind === "exhausted") return waiting.reject(overloaded());
    if (waiting.scan.nonce === undefined) return waiting.reject(undecided(cause));
    if (!isInTime(waiting)) return;
    try {
      const [outcome] = await call([waiting], heldBackAloneMs);
      const verdict = outcome?.outcome?.$case;
      if (verdict === undefined || verdict === "failed" || verdict === "undecided") waiting.reject(undecided(cause));
      else await settle(waiting, outcome);
    } catch (error) {
      waiting.reject(undecided(error));
    }
  }

  /** Whether one more scan would wait too long. */
  const isLong = () => unanswered >= Math.min(longestQueue, pace.within(longestWaitMs));

  function hasRoom(organizer: string, credential: string): boolean {
    const waiting = open.organizer.of(organizer);
    const isFull = isLong() && waiting >= reserved;
    return !isFull && waiting < mostOf.organizer && open.credential.of(credential) < mostOf.credential;
  }

  /** One for all: thousands a second are refused so, and the trace of an error costs as much as an answer. */
  const noRoom = overloaded();

  const redeemOne: RedeemScan = (scan, credential, isGone = () => false) =>
    new Promise((resolve, reject) => {
      const { organizer } = scan;
      const code = nameCode(scan);
      if (!hasRoom(organizer, credential) || open.code.of(code) >= mostOf.code) return reject(overloaded());
      unanswered += 1;
      open.organizer.add(organizer, 1);
      open.credential.add(credential, 1);
      open.code.add(code, 1);
      const end = () => {
        if (pending.isOver) return;
        pending.isOver = true;
        expiry.delete(pending);
        unanswered -= 1;
        open.organizer.add(organizer, -1);
        open.credential.add(credential, -1);
        open.code.add(code, -1);
        letNext(pending);
      };
      const pending: PendingScan = {
        scan,
        code,
        bytes: weigh(scan),
        until: Date.now() + scanMs,
        expiresAt: performance.now() + scanMs,
        isGone,
        isOver: false,
        resolve(outcome) {
          end();
          resolve(outcome);
        },
        reject(cause) {
          end();
          reject(cause);
        },
      };
      expiry.add(pending);
      queue.push(organizer, pending);
      send();
    });

  return {
    redeem: redeemOne,
    isCrowded: () => isLong() || unanswered >= mostOf.credential,
    refuse: (organizer, credential) => (hasRoom(organizer, credential) ? undefined : noRoom),
  };
}

/** Counts by name; what is zero takes no room. */
class Tally {
  readonly #counts = new Map<string, number>();

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  add(name: string, change: number): void {
    const count = this.of(name) + change;
    if (count === 0) this.#counts.delete(name);
    else this.#counts.set(name, count);
  }
}

/** Whether the scanner still waits for a scan; if not, it is refused without having been sent. */
function isInTime(waiting: PendingScan): boolean {
  // Its timer may be ahead of the clock, which can be set back. Sent now, it would never let the next scan of its code go.
  if (waiting.isOver) return false;
  if (waiting.until > Date.now() && !waiting.isGone()) return true;
  waiting.reject(undecided());
  return false;
}

function nameCode({ organizer, event, list, lookup }: Scan): string {
  return `${organizer}/${event}/${list} ${lookup}`;
}

/** The most bytes that a scan may have in a message: all of its texts that have no bound of their own. */
function weigh({ lookup, nonce = "", answers }: Scan): number {
  const characters = answers.reduce((sum, { value }) => sum + value.length + 500, lookup.length + nonce.length);
  return 3 * characters + 500;
}

/** No decision was made: the scanner may repeat the scan. */
export function undecided(cause?: unknown): Fault {
  return fault("scan_undecided", "This scan could not be decided now; send it again.", {
    retryAfterMs: 1000,
    cause,
  });
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Fault && error.code === "message_too_large";
}

function overloaded(): Fault {
  return fault("too_many_redeems", "More scans are waiting than can be decided; send it again.", {
    retryAfterMs: 1000,
  });
}

function tooLarge(): Fault {
  return fault("body_too_large", "The answers of this scan are too large.");
}
