import type { Ticket } from "../domain/ticket.ts";
import { listVariables } from "../domain/variables/find-variable.ts";
import { print } from "./print-ticket.ts";

export const textOf = (name: string, printed: Ticket) => print(name, printed).value;

/** The printed text of each variable of a ticket; others must be named. */
export function textsOf(printed: Ticket, ...others: readonly string[]): Record<string, string> {
  return Object.fromEntries([...listVariables(printed), ...others].map((name) => [name, textOf(name, printed)]));
}
