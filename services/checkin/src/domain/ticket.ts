import type { OrderStatus } from "./counted-as.ts";
import type { Presence } from "./presence.ts";
import type { StoredAnswer } from "./questions/answer-questions.ts";
import type { Question } from "./questions/question.ts";
import type { RuledScan, RuleFacts } from "./rules/judge-rules.ts";

/** What a decision needs to know of a ticket. */
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

/** What an item says about its tickets at a gate. */
export interface ItemAtGate {
  readonly admission: boolean;
  /** Overrides the settings of the event. */
  readonly generateTickets: boolean | null;
  /** Of the item or of the ticket's variation. */
  readonly attention: boolean;
}

/**
 * How a ticket was found: by the code as it was scanned (its own, its parent's where the list matches add-ons, its id
 * where the input is trusted), by the code with blanks for plus signs, by a medium that is linked to it, or by a code
 * that it had once and that was revoked.
 */
export type FoundBy = "code" | "code_with_blanks" | "medium" | "revoked";

/** A ticket that a scan may mean, with its state on the list of the scan. */
export interface Match<T extends Ticket = Ticket> {
  readonly ticket: T;
  readonly foundBy: FoundBy;
  readonly presence: Presence;
  /** A successful scan of the ticket on this list has the nonce of this scan. */
  readonly hasNonce: boolean;
  /** What rules ask of its successful scans, newest first; empty without rules. */
  readonly scans: readonly RuledScan[];
  /** Of its date, else of the event. */
  readonly dates: RuleFacts["dates"];
  /** What visitors with such a ticket are asked at the gate, in order. */
  readonly questions: readonly Question[];
  /** What is known of it already, by question. */
  readonly answers: ReadonlyMap<number, StoredAnswer>;
}
