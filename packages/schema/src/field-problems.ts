/** More than a person reads at once. Nothing else bounds them: a body may hold a million mistakes. */
const mostProblems = 100;

/** Gathers what is wrong, by field. The first hundred problems are reported, the others counted. */
export class FieldProblems {
  readonly #messages = new Map<string, Set<string>>();
  #reported = 0;
  #unreported = 0;

  /** Notes what is wrong with a field; the same message about the same field counts once. */
  add(field: string, message: string): void {
    const known = this.#messages.get(field);
    if (known?.has(message) === true) return;
    if (this.isFull) {
      this.#unreported += 1;
      return;
    }
    this.#reported += 1;
    if (known === undefined) this.#messages.set(field, new Set([message]));
    else known.add(message);
  }

  addAll(errors: Readonly<Record<string, readonly string[]>>): void {
    for (const [field, messages] of Object.entries(errors)) for (const message of messages) this.add(field, message);
  }

  has(field: string): boolean {
    return this.#messages.has(field);
  }

  get isEmpty(): boolean {
    return this.#reported === 0;
  }

  /** What is found from now on is only counted, so a search for problems may stop. */
  get isFull(): boolean {
    return this.#reported >= mostProblems;
  }

  toErrors(): Record<string, string[]> {
    const errors = Object.fromEntries([...this.#messages].map(([field, messages]) => [field, [...messages]]));
    if (this.#unreported === 0) return errors;
    return { ...errors, non_field_errors: [...(errors["non_field_errors"] ?? []), `and ${this.#unreported} more`] };
  }
}
