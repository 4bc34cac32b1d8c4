import { Fault } from "@tessera/kit/fault";
import type { Client } from "@tessera/kit/rpc";
import type { TicketsServiceService } from "@tessera/protos/gen/ticketing/boxoffice/v1/tickets";
import type { Scan } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { CheckinEvents } from "../events.ts";

/** Fetches the tickets that have the codes of scans, if there are any. */
export interface TicketAsker {
  /** Whether anybody would be asked now. */
  isOpen(): boolean;
  /** Never fails: who does not answer has none. */
  ask(scans: readonly Scan[]): Promise<void>;
}

export interface AskOptions {
  readonly tickets: Pick<Client<TicketsServiceService>, "findTickets">;
  /** Takes over what was found; `askedAt` in microseconds since 1970. */
  takeOver(found: { readonly facts: readonly Uint8Array[]; readonly askedAt: number }): Promise<void>;
  readonly events: CheckinEvents;
}

/** A visitor waits at the gate meanwhile, and so do those whose scans came in the same call. */
const askMs = 300;

/** Who did not answer is not asked again for so long: without boxoffice an unknown code costs no waiting. */
const restMs = 2000;

/** Calls under way; further codes are answered by what is known here. */
const mostCalls = 4;

/** As many codes are asked for in one call as a batch has scans. */
const mostCodes = 64;

/** Longer ones are no secrets. */
const longestCode = 1000;

/** Asks boxoffice once for each code that is unknown here: a ticket may have been sold seconds ago. */
export function askBoxoffice({ tickets, takeOver, events }: AskOptions): TicketAsker {
  let restUntil = 0;
  let calls = 0;
  const isOpen = () => calls < mostCalls && performance.now() >= restUntil;

  return {
    isOpen,
    async ask(scans) {
      const codes = new Map(
        scans
          .filter(({ lookup }) => lookup.length <= longestCode && !lookup.includes("\0"))
          .slice(0, mostCodes)
          .map(({ organizer, event, lookup: secret }) => [
            `${organizer}/${event}/${secret}`,
            { organizer, event, secret },
          ]),
      );
      if (codes.size === 0 || !isOpen()) return;
      calls += 1;
      try {
        const askedAt = Date.now() * 1000;
        const { facts } = await tickets.findTickets({ tickets: [...codes.values()] }, { timeoutMs: askMs });
        if (facts.length > 0)
          await takeOver({ facts, askedAt }).catch((error: unknown) => events.ticketsNotFound(error));
      } catch (error) {
        // One order that is too large is no reason to leave all others unasked for.
        if (error instanceof Fault && (error.kind === "unavailable" || error.kind === "timeout")) {
          restUntil = performance.now() + restMs;
        }
        events.ticketsNotFound(error);
      } finally {
        calls -= 1;
      }
    },
  };
}
