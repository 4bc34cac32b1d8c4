import { Recent } from "@tessera/kit/waiting/recent";

/** What timed out is not tried again for this long: each try occupies a tab or a thread. */
const slowMs = 60_000;

/** Remembers which layouts of an organizer timed out in print or drawing. */
export class SlowLayouts {
  /** Needs no bound: each entry has cost a timeout. */
  readonly #recent = new Recent({ forMs: slowMs });

  has(party: string, layout: string): boolean {
    return this.#recent.has(`${party} ${layout}`);
  }

  note(party: string, layout: string): void {
    this.#recent.note(`${party} ${layout}`);
  }
}
