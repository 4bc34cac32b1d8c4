/**
 * The time of the server, from the `Date` of its answers: phones' clocks are wrong, by minutes or by an hour.
 *
 * `Date` has whole seconds, and an answer takes time. Each answer gives a range for the difference of the clocks; all of
 * them have to hold, so a few answers make it exact.
 */
export class ServerClock {
  #least = Number.NEGATIVE_INFINITY;
  #most = Number.POSITIVE_INFINITY;
  readonly #before: number;

  /** Until the server answers, what was found out before counts. */
  constructor(before = 0) {
    this.#before = before;
  }

  /** Takes an answer that was sent for, and came, at these times of the phone, in milliseconds. */
  hear(date: number, { asked, came }: { readonly asked: number; readonly came: number }): void {
    const least = date - came;
    const most = date + 1000 - asked;
    [this.#least, this.#most] = [Math.max(this.#least, least), Math.min(this.#most, most)];
    // The clock of the phone was set meanwhile.
    if (this.#least > this.#most) [this.#least, this.#most] = [least, most];
  }

  /** How far the server is ahead, in milliseconds. Of all that is possible, what is nearest to what was known before. */
  get ahead(): number {
    return Math.min(Math.max(this.#before, this.#least), this.#most);
  }
}
