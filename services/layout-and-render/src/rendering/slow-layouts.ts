import { Recent } from "@tessera/kit/waiting/recent";

/** What took too long is not tried again for so long: each try keeps a tab, or a thread, from others. */
const slowMs = 60_000;

/** Remembers what of an organizer took too long to be printed, or to be drawn. */
export class SlowLayouts {
  /** There are few: each has taken the time that one may take. */
  readonly #recent = new Recent({ forMs: slowMs });

  has(party: string, layout: string): boolean {
    return this.#recent.has(`${party} ${layout}`);
  }

  note(party: string, layout: string): void {
    this.#recent.note(`${party} ${layout}`);
  }
}
