import type { Instant } from "@tessera/values";
import type { Formats, LocalFormats } from "../formats/formats.ts";
import type { LocalTime } from "../formats/local-time.ts";
import type { Occasion, Ticket } from "../ticket.ts";

/** A ticket, with the formats and the moment of its printing. */
export interface View {
  readonly ticket: Ticket;
  readonly formats: LocalFormats;
  readonly localTime: Formats["localTime"];
  readonly now: Instant;
}

/** Evaluates a variable; empty if the value is missing. */
export type Evaluate = (view: View) => string;

/** Finds the occasion of the ticket: the date of a series, else the event. */
export function occasionOf({ subevent, event }: Ticket): Occasion {
  return subevent ?? event;
}

/** Converts an instant to the local time of the event. */
export function whereItIs({ ticket, localTime }: View, instant: Instant): LocalTime {
  return localTime(instant, ticket.event.timezone);
}
