/** What a caller does with an item that is offered to it. */
export type Choice = "take" | "leave" | "drop";

/**
 * A queue in which parties take turns. However many items one party adds, the next item of another one is taken with
 * the first ones. The items of one party keep their order.
 */
export class FairQueue<T> {
  /** The party whose turn is next comes first. */
  readonly #parties = new Map<string, T[]>();
  /** The parties of the last items that were taken: what they add comes behind what others have added since. */
  #served: ReadonlySet<string> = new Set();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  sizeOf(party: string): number {
    return this.#parties.get(party)?.length ?? 0;
  }

  push(party: string, item: T): void {
    const items = this.#parties.get(party);
    if (items === undefined) this.#parties.set(party, [item]);
    else items.push(item);
    this.#size += 1;
  }

  /** Adds items in front of the others of their party. */
  putBack(party: string, items: readonly T[]): void {
    this.#parties.set(party, [...items, ...(this.#parties.get(party) ?? [])]);
    this.#size += items.length;
  }

  /**
   * Takes items of that weight together, of which the last may exceed it: one of each party, then the next of each, and so
   * on. Items that are left stay in their place; those that are dropped are gone and do not count.
   */
  take(most: number, choose: (item: T) => Choice = () => "take", weigh: (item: T) => number = () => 1): T[] {
    const taken: T[] = [];
    let weight = 0;
    for (const party of this.#served) this.#moveLast(party);
    const turns = [...this.#parties].map(([party, items]) => ({ party, items, next: 0, left: [] as T[], had: false }));
    for (let round: readonly Turn<T>[] = turns; weight < most && round.length > 0; ) {
      round = round.filter((turn) => {
        if (weight >= most) return false;
        const item = nextOf(turn, choose);
        if (item === undefined) return false;
        taken.push(item);
        weight += weigh(item);
        turn.had = true;
        return true;
      });
    }
    for (const { party, items, next, left } of turns) {
      if (next === 0) continue;
      const rest = [...left, ...items.slice(next)];
      if (rest.length > 0) this.#parties.set(party, rest);
      else this.#parties.delete(party);
      this.#size += rest.length - items.length;
    }
    if (taken.length > 0) this.#served = new Set(turns.flatMap(({ party, had }) => (had ? [party] : [])));
    return taken;
  }

  #moveLast(party: string): void {
    const items = this.#parties.get(party);
    if (items === undefined) return;
    this.#parties.delete(party);
    this.#parties.set(party, items);
  }
}

interface Turn<T> {
  readonly items: readonly T[];
  /** The first item that was not offered yet. */
  next: number;
  readonly left: T[];
  /** An item of it was taken. */
  had: boolean;
}

function nextOf<T>(turn: Turn<T>, choose: (item: T) => Choice): T | undefined {
  while (turn.next < turn.items.length) {
    const item = turn.items[turn.next] as T;
    turn.next += 1;
    const choice = choose(item);
    if (choice === "take") return item;
    if (choice === "leave") turn.left.push(item);
  }
  return undefined;
}
