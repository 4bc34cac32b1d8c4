import type { Texts, Ticket } from "../ticket.ts";
import { questionPrefix } from "../variables/answers.ts";
import { listEventVariables, metaSources } from "../variables/find-variable.ts";

/** The names of variables that any number of tickets of an event have. */
export class KnownNames {
  readonly #variables: Set<string>;
  readonly #questions = new Map<string, { readonly isFile: boolean }>();
  readonly #seen = new Set<Texts>();

  /** Questions and settings are the event's: those of one ticket are those of all. */
  constructor(ticket: Pick<Ticket, "settings" | "questions">) {
    this.#variables = new Set(listEventVariables(ticket));
    const questions = ticket.questions.map(({ id, identifier, type }) => ({ id, identifier, isFile: type === "F" }));
    // An identifier counts before an id, and the first question of several that are called alike.
    const reversed = questions.toReversed();
    for (const { id, isFile } of reversed) this.#questions.set(`${questionPrefix}${id}`, { isFile });
    for (const { identifier, isFile } of reversed) this.#questions.set(questionPrefix + identifier, { isFile });
  }

  /** Adds what only some tickets have: names that their date, product and variation give. */
  add(ticket: Ticket): void {
    for (const { prefix, texts } of metaSources(ticket)) {
      // Most tickets share them.
      if (this.#seen.has(texts)) continue;
      this.#seen.add(texts);
      for (const name of Object.keys(texts)) this.#variables.add(prefix + name);
    }
  }

  hasText(name: string): boolean {
    return this.#questions.get(name)?.isFile === false || this.#variables.has(name);
  }

  hasFile(name: string): boolean {
    return this.#questions.get(name)?.isFile === true;
  }
}
