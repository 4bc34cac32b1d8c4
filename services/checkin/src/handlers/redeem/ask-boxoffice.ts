import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "@tessera/kit/clock";
import { type Fault, isTransient } from "@tessera/kit/fault";
import type { Client } from "@tessera/kit/rpc";
import { Counts } from "@tessera/kit/waiting/counts";
import type { Scan } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { Tickets } from "@tessera/protos/services";
import type { ArrivedScan } from "../../domain/arrived-scan.ts";
import type { CheckinEvents } from "../../report-events.ts";

/** What a scan asks boxoffice for. */
type Code = Pick<ArrivedScan, "organizer" | "event" | "code">;

/** Fetches the tickets that have the codes of scans, if there are any. */
export interface UnknownTickets {
  /** Whether boxoffice is being asked for the code of a scan, or would be asked now. */
  mayBeAsked(scan: Pick<Scan, "organizer" | "event" | "lookup">): boolean;
  /** Asks for the code of a scan, together with those of the same turn. Never fails: without an answer there is no such ticket. */
  fetch(code: Code): Promise<void>;
}

export interface AskOptions {
  readonly tickets: Pick<Client<Tickets>, "findTickets">;
  /** Applies what was found to the copy here; `askedAt` in microseconds since 1970. */
  apply(found: { readonly facts: readonly Uint8Array[]; readonly askedAt: number }): Promise<void>;
  readonly clock: Clock;
  readonly events: Pick<CheckinEvents, "ticketsNotFound">;
}

/** A visitor waits at the gate meanwhile. */
const askMs = 300;

/**
 * After a call without an answer boxoffice is not asked for so long: while it is down, unknown codes do not wait. If it
 * is only too slow, that may be about the orders of one organizer: it is asked for those of others.
 */
const restMs = 2000;

/** Calls under way; further codes are answered by what is known here. Each call asks for codes of one organizer. */
const mostCalls = { total: 8, each: 2 };

/** As many codes are asked for in one call as a batch has scans. */
const mostCodes = 64;

/** Longer ones are no secrets. */
const longestCode = 1000;

/**
 * Asks boxoffice for codes that are unknown here: a ticket may have been sold seconds ago. A code that is being asked for
 * is not asked for a second time.
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
      // An answer that is too large for one order is no reason not to ask for others.
      if (isTransient(error)) rest(organizer, performance.now() + restMs, error);
      events.ticketsNotFound(error);
    } finally {
      calls -= 1;
      callsOf.add(organizer, -1);
    }
  }

  /** The call that is about to ask for codes of an organizer: one batch of scans may leave several unknown. */
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
  /** It was answered, or has failed. */
  readonly asked: Promise<void>;
}

function keyOf({ organizer, event, code }: Code): string {
  return JSON.stringify([organizer, event, code]);
}
