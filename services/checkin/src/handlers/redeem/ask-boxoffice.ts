import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "@tessera/kit/clock";
import { type Fault, isTransient } from "@tessera/kit/fault";
import type { Client } from "@tessera/kit/rpc";
import { Counts } from "@tessera/kit/waiting/counts";
import type { Scan } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { Tickets } from "@tessera/protos/services";
import type { ArrivedScan } from "../../domain/arrived-scan.ts";
import type { CheckinEvents } from "../../report-events.ts";

type Code = Pick<ArrivedScan, "organizer" | "event" | "code">;

/** Asks boxoffice for tickets that are unknown here. */
export interface UnknownTickets {
  /** Whether boxoffice is being asked for the code of a scan, or would be asked now. */
  mayBeAsked(scan: Pick<Scan, "organizer" | "event" | "lookup">): boolean;
  /** Asks for a code, in one call with others. Never fails: without an answer there is no such ticket. */
  fetch(code: Code): Promise<void>;
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

/** Concurrent calls; further codes are answered from the copy. Each call asks for codes of one organizer. */
const mostCalls = { total: 8, each: 2 };

/** As many codes as a batch has scans. */
const mostCodes = 64;

/** No secret is longer. */
const longestCode = 1000;

/**
 * Asks boxoffice for codes that are unknown here: a ticket may have been sold seconds ago. A code that is being asked
 * for is not asked for again.
 */
export function askBoxoffice({ tickets, apply, clock, events }: AskOptions): UnknownTickets {
  let restUntil = 0;
  const restOf = new Map<string, number>();
  let calls = 0;
  const callsOf = new Counts();
  const underWay = new Map<string, Promise<void>>();
  const nextCalls = new Map<string, NextCall>();

  const isOpenTo = (organizer: string) =>
    calls < mostCalls.total &&
    callsOf.of(organizer) < mostCalls.each &&
    performance.now() >= Math.max(restUntil, restOf.get(organizer) ?? 0);

  function rest(organizer: string, until: number, { kind }: Fault): void {
    if (kind === "timeout") restOf.set(organizer, until);
    else restUntil = until;
  }

  async function ask(organizer: string, codes: NextCall["codes"]) {
    calls += 1;
    callsOf.add(organizer, 1);
    try {
      const askedAt = clock.now();
      const wanted = codes.map((code) => ({ organizer, ...code }));
      const { facts } = await tickets.findTickets({ tickets: wanted }, { timeoutMs: askMs });
      if (facts.length > 0) await apply({ facts, askedAt }).catch((error: unknown) => events.ticketsNotFound(error));
    } catch (error) {
      // Too large an answer for one request says nothing about the next: boxoffice is still asked.
      if (isTransient(error)) rest(organizer, performance.now() + restMs, error);
      events.ticketsNotFound(error);
    } finally {
      calls -= 1;
      callsOf.add(organizer, -1);
    }
  }

  /** The call that collects codes of an organizer: one batch of scans may leave several unknown. */
  function nextCallOf(organizer: string): NextCall {
    const planned = nextCalls.get(organizer);
    if (planned !== undefined && planned.codes.length < mostCodes) return planned;
    const codes: NextCall["codes"] = [];
    const asked = nextTurn().then(async () => {
      if (nextCalls.get(organizer) === call) nextCalls.delete(organizer);
      if (isOpenTo(organizer)) await ask(organizer, codes);
    });
    const call = { codes, asked };
    nextCalls.set(organizer, call);
    return call;
  }

  function fetch({ organizer, event, code: secret }: Code): Promise<void> {
    if (secret === null || secret.length > longestCode) return Promise.resolve();
    const key = keyOf({ organizer, event, code: secret });
    const isAsked = underWay.get(key);
    if (isAsked !== undefined) return isAsked;
    const call = nextCallOf(organizer);
    call.codes.push({ event, secret });
    const asked = call.asked.finally(() => underWay.delete(key));
    underWay.set(key, asked);
    return asked;
  }

  return {
    mayBeAsked: ({ organizer, event, lookup }) =>
      underWay.has(keyOf({ organizer, event, code: lookup })) || isOpenTo(organizer),
    fetch,
  };
}

interface NextCall {
  readonly codes: { readonly event: string; readonly secret: string }[];
  /** Resolves when boxoffice has answered or failed. */
  readonly asked: Promise<void>;
}

function keyOf({ organizer, event, code }: Code): string {
  return JSON.stringify([organizer, event, code]);
}
