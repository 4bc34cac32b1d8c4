import { isTransient } from "@tessera/kit/fault";
import type { Client } from "@tessera/kit/rpc";
import type { Tickets } from "@tessera/protos/services";
import type { ArrivedScan } from "../../domain/arrived-scan.ts";
import type { CheckinEvents } from "../../events.ts";

/** Fetches the tickets that have the codes of scans, if there are any. */
export interface UnknownTickets {
  /** Whether boxoffice would be asked now. */
  isOpen(): boolean;
  /** Never fails: without an answer there are no such tickets. */
  fetch(scans: readonly ArrivedScan[]): Promise<void>;
}

export interface AskOptions {
  readonly tickets: Pick<Client<Tickets>, "findTickets">;
  /** Applies what was found to the copy here; `askedAt` in microseconds since 1970. */
  apply(found: { readonly facts: readonly Uint8Array[]; readonly askedAt: number }): Promise<void>;
  readonly events: CheckinEvents;
}

/** A visitor waits at the gate meanwhile, and so do those with scans in the same call. */
const askMs = 300;

/** After a call without an answer boxoffice is not asked for so long: while it is down, unknown codes do not wait. */
const restMs = 2000;

/** Calls under way; further codes are answered by what is known here. */
const mostCalls = 4;

/** As many codes are asked for in one call as a batch has scans. */
const mostCodes = 64;

/** Longer ones are no secrets. */
const longestCode = 1000;

/** Asks boxoffice once for each code that is unknown here: a ticket may have been sold seconds ago. */
export function askBoxoffice({ tickets, apply, events }: AskOptions): UnknownTickets {
  let restUntil = 0;
  let calls = 0;
  const isOpen = () => calls < mostCalls && performance.now() >= restUntil;

  return {
    isOpen,
    async fetch(scans) {
      const codes = new Map(
        scans
          .flatMap(({ organizer, event, code: secret }) => (secret === null ? [] : [{ organizer, event, secret }]))
          .filter(({ secret }) => secret.length <= longestCode)
          .slice(0, mostCodes)
          .map((ticket) => [`${ticket.organizer}/${ticket.event}/${ticket.secret}`, ticket]),
      );
      if (codes.size === 0 || !isOpen()) return;
      calls += 1;
      try {
        const askedAt = Date.now() * 1000;
        const { facts } = await tickets.findTickets({ tickets: [...codes.values()] }, { timeoutMs: askMs });
        if (facts.length > 0) await apply({ facts, askedAt }).catch((error: unknown) => events.ticketsNotFound(error));
      } catch (error) {
        // An answer that is too large for one order is no reason not to ask for others.
        if (isTransient(error)) restUntil = performance.now() + restMs;
        events.ticketsNotFound(error);
      } finally {
        calls -= 1;
      }
    },
  };
}
