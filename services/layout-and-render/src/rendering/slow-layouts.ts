/** What took too long is not tried again for so long: each try keeps a tab, or a thread, from others. */
const usualSlowMs = 60_000;

/** Remembers what of an organizer took too long to be printed, or to be drawn. */
export class SlowLayouts {
  readonly #slowMs: number;
  readonly #slow = new Set<string>();

  constructor({ slowMs = usualSlowMs }: { readonly slowMs?: number } = {}) {
    this.#slowMs = slowMs;
  }

  has(party: string, layout: string): boolean {
    return this.#slow.has(`${party} ${layout}`);
  }

  /** There are few: each has taken the time that one may take. */
  note(party: string, layout: string): void {
    const name = `${party} ${layout}`;
    this.#slow.add(name);
    setTimeout(() => this.#slow.delete(name), this.#slowMs).unref();
  }
}
