interface Sample {
  /** Seconds since 1970. */
  readonly at: number;
  readonly persons: number;
}

/** Visitors come in waves: fewer minutes say little, more are of the past. */
const longest = 300;
const shortest = 60;
const apart = 10;

/** A forecast further ahead is of no use. */
const farthest = 6 * 3600;

/** How many persons were inside of each list within the last minutes. */
export class RecentInside {
  readonly #samples = new Map<number, Sample[]>();

  note(list: number, sample: Sample): void {
    const samples = this.#samples.get(list) ?? [];
    const last = samples.at(-1);
    if (last !== undefined && sample.at - last.at < apart) return;
    this.#samples.set(
      list,
      [...samples, sample].filter(({ at }) => at >= sample.at - longest),
    );
  }

  /** When so many are inside if visitors come as they did; undefined: that is not known, or not soon. */
  whenReached(list: number, { limit, now }: { readonly limit: number; readonly now: Sample }): number | undefined {
    const [first] = this.#samples.get(list) ?? [];
    if (now.persons >= limit) return now.at;
    if (first === undefined || now.at - first.at < shortest) return undefined;
    const perSecond = (now.persons - first.persons) / (now.at - first.at);
    const seconds = (limit - now.persons) / perSecond;
    return perSecond > 0 && seconds <= farthest ? Math.round(now.at + seconds) : undefined;
  }
}
