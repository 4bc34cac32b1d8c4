/** More than people read. Without this limit a body could have a million problems. */
const mostProblems = 100;

/** Collects problems by field. The first hundred are reported unless more are wanted, the others counted. */
export class FieldProblems {
  readonly #messages = new Map<string, Set<string>>();
  readonly #most: number;
  #reported = 0;
  #unreported = 0;

  constructor({ most = mostProblems } = {}) {
    this.#most = most;
  }

  /** Adds a problem. The same message about the same field counts once. */
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

  /** Further problems are only counted, so a search for them may stop. */
  get isFull(): boolean {
    return this.#reported >= this.#most;
  }

  toErrors(): Record<string, string[]> {
    const errors = Object.fromEntries([...this.#messages].map(([field, messages]) => [field, [...messages]]));
    if (this.#unreported === 0) return errors;
    return { ...errors, non_field_errors: [...(errors["non_field_errors"] ?? []), `and ${this.#unreported} more`] };
  }
}
