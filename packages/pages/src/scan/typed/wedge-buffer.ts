/** A key of a keyboard: what it means here, and where it is, as a browser tells both. */
export interface PressedKey {
  readonly key: string;
  /** Its place, named after the US layout; empty: the keyboard has no places, as one on a screen. */
  readonly code: string;
  readonly shift: boolean;
}

/** The longest pause between two keys of a scanner: no person types that fast. */
export const longestPauseMs = 50;

/** Fewer keys are no code. */
const shortest = 4;

/** Keys that only prepare the next one, or that the browser cannot name; a scanner presses them where its layout is another. */
const nameless: ReadonlySet<string> = new Set(["Dead", "Process", "Unidentified"]);

/** Collects the keys of a scanner that works as a keyboard. */
export class WedgeBuffer {
  #keys: PressedKey[] = [];
  #last = Number.NEGATIVE_INFINITY;

  /** Takes a key with its time in milliseconds; returns the keys that Enter or Tab has ended, without that one. */
  press(pressed: PressedKey, at: number): readonly PressedKey[] | undefined {
    const { key, code } = pressed;
    const isFast = at - this.#last <= longestPauseMs;
    this.#last = at;
    if (key === "Enter" || key === "Tab") {
      const keys = isFast && this.#keys.length >= shortest ? this.#keys : undefined;
      this.#keys = [];
      return keys;
    }
    // Names of keys such as Shift are longer than one character.
    if ([...key].length !== 1 && !(nameless.has(key) && code !== "")) return undefined;
    if (!isFast) this.#keys = [];
    this.#keys.push(pressed);
    return undefined;
  }

  /** Forgets what was pressed so far. */
  clear(): void {
    this.#keys = [];
  }
}
