import { BatchSlots } from "@tessera/kit/batch-slots";
import { Expiry } from "@tessera/kit/expiry";
import { type Choice, FairQueue } from "@tessera/kit/fair-queue";
import type { Fault } from "@tessera/kit/fault";
import type { Client } from "@tessera/kit/rpc";
import type { Scan, ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { Scans } from "@tessera/protos/services";
import type { Placed } from "../../placed.ts";
import { Pace } from "./pace.ts";
import { isInTime, nameCode, overloaded, type PendingScan, undecided, weigh } from "./pending-scan.ts";
import { ScanCalls } from "./scan-calls.ts";
import { ScanRoom } from "./scan-room.ts";
import { Standstill } from "./standstill.ts";

/**
 * Has one scan decided. `credential` names who sent it. Where its scanner has gone, it is not sent any more: another gateway may have
 * told the scanner something else by now.
 */
export type RedeemScan = (scan: Placed<Scan>, credential: string, isGone?: () => boolean) => Promise<ScanOutcome>;

/** What gathers the scans of all requests. */
export interface GatheredScans {
  readonly redeem: RedeemScan;
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

/** From a scan's arrival to its answer, retries included; scanners wait a little longer. */
const scanMs = 8000;

/**
 * Gathers scans: those that arrive while calls are in flight go together in the
 * next one. A second call beside one under way is for many scans, or for when that
 * one takes long, so a single scan is as fast as ever.
 * Organizers take turns, so a flood of one does not delay the others. Of one code
 * on one list one scan is sent at a time, because the service decides one at a
 * time: those behind it would hold up their calls.
 */
export function gatherScans(
  redeem: Client<Scans>["redeem"],
  {
    worthAnother,
    longestWaitMs,
    standstill = new Standstill(),
  }: {
    readonly worthAnother?: number;
    readonly longestWaitMs?: number;
    readonly standstill?: Pick<Standstill, "untilKnown">;
  } = {},
): GatheredScans {
  const queue = new FairQueue<PendingScan>();
  const pace = new Pace();
  const room = new ScanRoom(pace, longestWaitMs);
  const calls = new ScanCalls(redeem, { pace, standstill });
  /** The scan of each code whose outcome the next one waits for. */
  const sent = new Map<string, PendingScan>();
  /** Of the calls in flight, but for those that were given up for the next ones. */
  const slots = new BatchSlots({ atOnce: mostInFlight, worthAnother, onSlow: () => send() });
  let isPlanned = false;
  // A call that carries younger scans, or one in front of it in the queue, may outlast the time of a scan.
  const expiry = new Expiry<PendingScan>((late) => late.reject(undecided()));
  /** One for all: thousands a second are refused so, and the trace of an error costs as much as an answer. */
  const noRoom = overloaded();

  function send(): void {
    const known = standstill.untilKnown();
    if (known === undefined) sendBatches();
    else void known.then(sendBatches);
  }

  function sendBatches(): void {
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
    await calls.decide(batch);
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
    if (room.has(waiting.code)) plan();
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

  const redeemOne: RedeemScan = (scan, credential, isGone = () => false) =>
    new Promise((resolve, reject) => {
      const { organizer } = scan;
      const code = nameCode(scan);
      if (!room.hasRoom(organizer, credential) || !room.hasRoomFor(code)) return reject(overloaded());
      const end = () => {
        if (pending.isOver) return;
        pending.isOver = true;
        expiry.delete(pending);
        room.leave(pending);
        letNext(pending);
      };
      const arrivedAt = performance.now();
      const pending: PendingScan = {
        scan,
        credential,
        code,
        bytes: weigh(scan),
        arrivedAt,
        until: Date.now() + scanMs,
        expiresAt: arrivedAt + scanMs,
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
      room.enter(pending);
      expiry.add(pending);
      queue.push(organizer, pending);
      send();
    });

  return {
    redeem: redeemOne,
    refuse: (organizer, credential) => (room.hasRoom(organizer, credential) ? undefined : noRoom),
  };
}
