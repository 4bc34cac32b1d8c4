import type { Texts, Ticket } from "../ticket.ts";
import { questionPrefix } from "../variables/answers.ts";
import { listEventVariables, metaSources } from "../variables/find-variable.ts";

/** The names of variables that some tickets of an event have. */
export class KnownNames {
  readonly #variables: Set<string>;
  readonly #questions = new Map<string, { readonly isFile: boolean }>();
  readonly #seen = new Set<Texts>();

  /** Questions and settings are the same for all tickets of an event. */
  constructor(ticket: Pick<Ticket, "settings" | "questions">) {
    this.#variables = new Set(listEventVariables(ticket));
    const questions = ticket.questions.map(({ id, identifier, type }) => ({ id, identifier, isFile: type === "F" }));
    // Identifiers take precedence over ids, and the first of equally named questions wins.
    const reversed = questions.toReversed();
    for (const { id, isFile } of reversed) this.#questions.set(`${questionPrefix}${id}`, { isFile });
    for (const { identifier, isFile } of reversed) this.#questions.set(questionPrefix + identifier, { isFile });
  }

  /** Adds the names that date, product and variation of a ticket give. */
  add(ticket: Ticket): void {
    for (const { prefix, texts } of metaSources(ticket)) {
      // Most tickets share these texts.
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
