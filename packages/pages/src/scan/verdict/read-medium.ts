import { checkCode } from "../typed/check-code.ts";

/** What an exchange asks for. */
export interface Exchange {
  readonly policy: string;
  readonly type: string;
}

/** A wristband or a card that a ticket is exchanged for. */
export interface Medium {
  readonly type: string;
  readonly identifier: string;
}

export type MediumProblem = "empty" | "unreadable" | "ticket";

/** The longest that the server takes. */
const longest = 200;

/** Reads what was brought after the ticket: its medium, or why it cannot be one. */
export function readMedium(
  brought: string,
  { type }: Exchange,
  ticketCode: string,
): { readonly medium: Medium } | { readonly problem: MediumProblem } {
  const checked = checkCode(brought);
  if ("problem" in checked) return { problem: checked.problem.kind === "empty" ? "empty" : "unreadable" };
  const { code: identifier } = checked;
  if (identifier === ticketCode) return { problem: "ticket" };
  return identifier.length > longest ? { problem: "unreadable" } : { medium: { type, identifier } };
}
