import { setImmediate as nextTurn } from "node:timers/promises";
import { type ArrivedScan, onEachList } from "@tessera/admission";
import type { Clock } from "@tessera/kit/clock";
import { type Fault, isTransient } from "@tessera/kit/fault";
import type { Client } from "@tessera/kit/rpc";
import { Turns } from "@tessera/kit/waiting/turns";
import type { WantedTicket } from "@tessera/protos/gen/ticketing/boxoffice/v1/tickets";
import type { Tickets } from "@tessera/protos/services";
import type { CheckinEvents } from "../../report-events.ts";

/** Asks boxoffice for tickets that are unknown here. */
export interface UnknownTickets {
  /** Whether boxoffice answers, as far as known. */
  mayBeAsked(organizer: string): boolean;
  /**
   * Asks for the code of a scan, in the events of all its lists. Without an answer there is no such ticket. False: too
   * many other codes were asked for, and nothing is known about this one.
   */
  fetch(scan: ArrivedScan): Promise<boolean>;
}

export interface AskOptions {
  readonly tickets: Pick<Client<Tickets>, "findTickets">;
  /** Copies the tickets that boxoffice has found; `askedAt` is in microseconds since 1970. */
  apply(found: { readonly facts: readonly Uint8Array[]; readonly askedAt: number }): Promise<void>;
  readonly clock: Clock;
  readonly events: Pick<CheckinEvents, "ticketsNotFound">;
}

/** Short: a visitor waits at the gate. */
const askMs = 300;

/**
 * Circuit breaker: after a failed call boxoffice is not asked for this long, so that unknown codes need not wait for
 * it. A timeout may be due to the orders of one organizer: boxoffice is still asked for others.
 */
const restMs = 2000;

/** Concurrent calls, each for codes of one organizer. Further codes wait for the next call, as long as scans wait. */
const callLimits = { total: 8, each: 2, waitMs: 3000 };

/** The limit of boxoffice: a code counts once for each event. */
const mostWanted = 256;

/** No secret is longer. */
const longestCode = 1000;

/**
 * Asks boxoffice for codes that are unknown here: a ticket may have been sold seconds ago. A code that is being asked
 * for is not asked for again.
 */
export function askBoxoffice({ tickets, apply, clock, events }: AskOptions): UnknownTickets {
  let restUntil = 0;
  const restOf = new Map<string, number>();
  const turns = new Turns({ ...callLimits, busy: () => new Error("too many codes are unknown") });
  const underWay = new Map<string, Promise<boolean>>();
  const nextCalls = new Map<string, NextCall>();

  const mayBeAsked = (organizer: string) => performance.now() >= Math.max(restUntil, restOf.get(organizer) ?? 0);

  function rest(organizer: string, until: number, { kind }: Fault): void {
    if (kind === "timeout") restOf.set(organizer, until);
    else restUntil = until;
  }

  async function ask(wanted: WantedTicket[], organizer: string): Promise<void> {
    try {
      const askedAt = clock.now();
      const { facts } = await tickets.findTickets({ tickets: wanted }, { timeoutMs: askMs });
      if (facts.length > 0) await apply({ facts, askedAt }).catch((error: unknown) => events.ticketsNotFound(error));
    } catch (error) {
      // Too large an answer for one request says nothing about the next: boxoffice is still asked.
      if (isTransient(error)) rest(organizer, performance.now() + restMs, error);
      events.ticketsNotFound(error);
    }
  }

  /** The call that collects codes of an organizer until it begins. */
  function nextCallOf(organizer: string, { room }: { readonly room: number }): NextCall {
    const planned = nextCalls.get(organizer);
    if (planned !== undefined && planned.wanted.length + room <= mostWanted) return planned;
    const wanted: WantedTicket[] = [];
    const close = () => {
      if (nextCalls.get(organizer) === call) nextCalls.delete(organizer);
    };
    const begin = async () => {
      close();
      if (mayBeAsked(organizer)) await ask(wanted, organizer);
    };
    // One batch of scans may leave several codes unknown.
    const asked = nextTurn()
      .then(() => turns.run({ party: organizer, amount: 1 }, begin))
      .then(
        () => true,
        () => false,
      )
      .finally(close);
    const call = { wanted, asked };
    nextCalls.set(organizer, call);
    return call;
  }

  async function fetch(scan: ArrivedScan): Promise<boolean> {
    const { organizer, code: secret } = scan;
    if (secret === null || secret.length > longestCode) return true;
    const wanted = onEachList(scan).map(({ event }) => ({ organizer, event, secret }));
    const key = JSON.stringify(wanted);
    const isAsked = underWay.get(key);
    if (isAsked !== undefined) return isAsked;
    const call = nextCallOf(organizer, { room: wanted.length });
    call.wanted.push(...wanted);
    underWay.set(key, call.asked);
    const answered = await call.asked;
    underWay.delete(key);
    return answered;
  }

  return { mayBeAsked, fetch };
}

interface NextCall {
  readonly wanted: WantedTicket[];
  /** Resolves when boxoffice has answered or failed. False: there was no room for the call. */
  readonly asked: Promise<boolean>;
}
