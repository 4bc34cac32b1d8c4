import type { MediaTerms, TicketMedium } from "./media-terms.ts";
import type { Presence } from "./presence.ts";
import type { StoredAnswer } from "./questions/answer-questions.ts";
import type { Question } from "./questions/question.ts";
import type { RuledScan, RuleFacts } from "./rules/judge-rules.ts";

/** The state of a ticket's order, as boxoffice reports it. */
export type OrderStatus = "pending" | "paid" | "expired" | "canceled";

/** The fields of a ticket that decisions use. */
export interface Ticket {
  readonly id: number;
  readonly item: number;
  readonly variation: number | null;
  readonly subevent: number | null;
  readonly addonTo: number | null;
  readonly canceled: boolean;
  readonly orderStatus: OrderStatus;
  readonly validIfPending: boolean;
  readonly requireApproval: boolean;
  readonly blocked: boolean;
  readonly validFrom: number | null;
  readonly validUntil: number | null;
}

/**
 * How a ticket was found: by its code (its own, its parent's where the list matches add-ons, its id where the input is
 * trusted), by the code with blanks for plus signs, by a medium linked to the ticket, or by a revoked code.
 */
export type FoundBy = "code" | "code_with_blanks" | "medium" | "revoked";

/** A ticket that a scan may mean, with its state on the list of the scan. */
export interface Match<T extends Ticket = Ticket> {
  readonly ticket: T;
  readonly foundBy: FoundBy;
  readonly presence: Presence;
  /** A successful scan of the ticket on this list has the nonce of this scan. */
  readonly hasNonce: boolean;
  /** What rules ask about the successful scans of the ticket, newest first; empty without rules. */
  readonly scans: readonly RuledScan[];
  /** The dates of the ticket's date, else of the event. */
  readonly dates: RuleFacts["dates"];
  /** What visitors with such a ticket are asked at the gate, in order. */
  readonly questions: readonly Question[];
  /** The answers that are known already, by question. */
  readonly answers: ReadonlyMap<number, StoredAnswer>;
  /** What the ticket is exchanged for at the gate; null: it is not. */
  readonly mediaTerms: MediaTerms | null;
  /** Its active media of that type. */
  readonly media: readonly TicketMedium[];
}
