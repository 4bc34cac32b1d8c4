/** How long a code that stays before the camera is not scanned again. */
const restMs = 2000;

/** Remembers the code before the camera, so that one ticket is one scan. */
export class Cooldown {
  #code = "";
  #seenAt = Number.NEGATIVE_INFINITY;

  /** Whether a code that the camera sees now is to be scanned: it is another one, or was out of sight for two seconds. */
  admits(code: string, now: number): boolean {
    const isNew = code !== this.#code || now - this.#seenAt >= restMs;
    this.#code = code;
    this.#seenAt = now;
    return isNew;
  }
}
