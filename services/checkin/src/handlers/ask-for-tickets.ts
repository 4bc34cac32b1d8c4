import type { Client } from "@tessera/kit/rpc";
import type { TicketsServiceService } from "@tessera/protos/gen/ticketing/boxoffice/v1/tickets";
import type { Scan } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { CheckinEvents } from "../events.ts";

/** Fetches the tickets that have the codes of scans, if there are any; resolves in bounded time, whatever happens. */
export type AskForTickets = (scans: readonly Scan[]) => Promise<void>;

export interface AskOptions {
  readonly tickets: Pick<Client<TicketsServiceService>, "findTickets">;
  /** Takes over what was found. */
  takeOver(facts: readonly Uint8Array[]): Promise<void>;
  readonly events: CheckinEvents;
  /** Milliseconds; never goes back. */
  now(): number;
}

/** A visitor waits at the gate meanwhile. */
const askMs = 400;

/** Who did not answer is not asked again for so long: without boxoffice an unknown code costs no waiting. */
const restMs = 2000;

/** Calls under way; further codes are answered by what is known here. */
const mostCalls = 4;

/** As many codes are asked for in one call as a batch has scans. */
const mostCodes = 64;

/** Longer ones are no secrets. */
const longestCode = 1000;

/** Asks boxoffice once for each code that is unknown here: a ticket may have been sold seconds ago. */
export function askBoxoffice({ tickets, takeOver, events, now }: AskOptions): AskForTickets {
  let restUntil = 0;
  let calls = 0;

  return async (scans) => {
    const codes = new Map(
      scans
        .filter(({ lookup }) => lookup.length <= longestCode && !lookup.includes("\0"))
        .slice(0, mostCodes)
        .map(({ organizer, event, lookup: secret }) => [
          `${organizer}/${event}/${secret}`,
          { organizer, event, secret },
        ]),
    );
    if (codes.size === 0 || calls >= mostCalls || now() < restUntil) return;
    calls += 1;
    try {
      const { facts } = await tickets.findTickets({ tickets: [...codes.values()] }, { timeoutMs: askMs });
      if (facts.length > 0) await takeOver(facts);
    } catch (error) {
      restUntil = now() + restMs;
      events.ticketsNotFound(error);
    } finally {
      calls -= 1;
    }
  };
}
