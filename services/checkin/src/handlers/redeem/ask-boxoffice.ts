import type { Clock } from "@tessera/kit/clock";
import { Counts } from "@tessera/kit/counts";
import { type Fault, isTransient } from "@tessera/kit/fault";
import type { Client } from "@tessera/kit/rpc";
import type { Scan } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { Tickets } from "@tessera/protos/services";
import type { ArrivedScan } from "../../domain/arrived-scan.ts";
import type { CheckinEvents } from "../../events.ts";

/** What a scan asks boxoffice for. */
type Code = Pick<ArrivedScan, "organizer" | "event" | "code">;

/** Fetches the tickets that have the codes of scans, if there are any. */
export interface UnknownTickets {
  /** Whether boxoffice is being asked for the code of a scan, or would be asked now. */
  mayBeAsked(scan: Pick<Scan, "organizer" | "event" | "lookup">): boolean;
  /** Never fails: without an answer there are no such tickets. */
  fetch(scans: readonly Code[]): Promise<void>;
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

  const isOpenTo = (organizer: string) =>
    calls < mostCalls.total &&
    callsOf.of(organizer) < mostCalls.each &&
    performance.now() >= Math.max(restUntil, restOf.get(organizer) ?? 0);

  function rest(organizer: string, until: number, { kind }: Fault): void {
    if (kind === "timeout") restOf.set(organizer, until);
    else restUntil = until;
  }

  async function ask(organizer: string, codes: readonly { readonly event: string; readonly secret: string }[]) {
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

  /** The codes of one organizer. */
  function fetchOf(organizer: string, scans: readonly Code[]): Promise<unknown> {
    const waited: Promise<void>[] = [];
    const codes = new Map<string, { event: string; secret: string }>();
    for (const { event, code: secret } of scans) {
      if (secret === null || secret.length > longestCode) continue;
      const key = keyOf({ organizer, event, code: secret });
      const asked = underWay.get(key);
      if (asked !== undefined) waited.push(asked);
      else if (codes.size < mostCodes) codes.set(key, { event, secret });
    }
    if (codes.size > 0 && isOpenTo(organizer)) {
      const asked = ask(organizer, [...codes.values()]).finally(() => {
        for (const key of codes.keys()) underWay.delete(key);
      });
      for (const key of codes.keys()) underWay.set(key, asked);
      waited.push(asked);
    }
    return Promise.all(waited);
  }

  return {
    mayBeAsked: ({ organizer, event, lookup }) =>
      underWay.has(keyOf({ organizer, event, code: lookup })) || isOpenTo(organizer),
    async fetch(scans) {
      const byOrganizer = Map.groupBy(scans, ({ organizer }) => organizer);
      await Promise.all([...byOrganizer].map(([organizer, codes]) => fetchOf(organizer, codes)));
    },
  };
}

function keyOf({ organizer, event, code }: Code): string {
  return JSON.stringify([organizer, event, code]);
}
