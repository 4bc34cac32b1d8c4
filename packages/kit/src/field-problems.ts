import type { FieldErrors } from "./fault.ts";

/** More than anybody reads at once. What they are about is bounded by nothing else: a body may hold a million mistakes. */
const mostProblems = 100;

/** Gathers what is wrong, by field. The first hundred problems are told, the others counted. */
export class FieldProblems {
  readonly #messages = new Map<string, Set<string>>();
  #told = 0;
  #untold = 0;

  /** Notes what is wrong with a field; the same message about the same field counts once. */
  add(field: string, message: string): void {
    const known = this.#messages.get(field);
    if (known?.has(message) === true) return;
    if (this.isFull) {
      this.#untold += 1;
      return;
    }
    this.#told += 1;
    if (known === undefined) this.#messages.set(field, new Set([message]));
    else known.add(message);
  }

  addAll(errors: FieldErrors): void {
    for (const [field, messages] of Object.entries(errors)) for (const message of messages) this.add(field, message);
  }

  has(field: string): boolean {
    return this.#messages.has(field);
  }

  get isEmpty(): boolean {
    return this.#told === 0;
  }

  /** What is found from now on is only counted: whoever need not find it may stop. */
  get isFull(): boolean {
    return this.#told >= mostProblems;
  }

  toErrors(): Record<string, string[]> {
    const errors = Object.fromEntries([...this.#messages].map(([field, messages]) => [field, [...messages]]));
    if (this.#untold === 0) return errors;
    return { ...errors, non_field_errors: [...(errors["non_field_errors"] ?? []), `and ${this.#untold} more`] };
  }
}
