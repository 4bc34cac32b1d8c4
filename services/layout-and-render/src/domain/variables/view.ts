import type { Instant } from "@tessera/values";
import type { Formats, LocalFormats } from "../formats/formats.ts";
import type { LocalTime } from "../formats/local-time.ts";
import type { Occasion, Ticket } from "../ticket.ts";

/** A ticket as it is printed: by whom it is read, and when. */
export interface View {
  readonly ticket: Ticket;
  readonly formats: LocalFormats;
  readonly localTime: Formats["localTime"];
  readonly now: Instant;
}

/** Evaluates a variable. What is missing is empty. */
export type Evaluate = (view: View) => string;

/** Finds what the ticket is for: the date of a series, else the event. */
export function occasionOf({ subevent, event }: Ticket): Occasion {
  return subevent ?? event;
}

/** Reads calendar and clock where the event is. */
export function whereItIs({ ticket, localTime }: View, instant: Instant): LocalTime {
  return localTime(instant, ticket.event.timezone);
}
