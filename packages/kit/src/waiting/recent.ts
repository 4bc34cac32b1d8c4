/** Remembers names for a while, from when each was noted last. */
export class Recent {
  readonly #forMs: number;
  readonly #ends = new Map<string, NodeJS.Timeout>();

  constructor({ forMs }: { readonly forMs: number }) {
    this.#forMs = forMs;
  }

  has(name: string): boolean {
    return this.#ends.has(name);
  }

  note(name: string): void {
    clearTimeout(this.#ends.get(name));
    this.#ends.set(name, setTimeout(() => this.#ends.delete(name), this.#forMs).unref());
  }
}
