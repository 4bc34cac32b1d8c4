/** A batch that takes longer waits for something else, so that a small one may run at the same time. */
const usualMs = 20;

/** A batch costs about as much as so many items in it. */
const usuallyWorthAnother = 16;

export interface BatchSlotsOptions {
  readonly atOnce: number;
  /** So many waiting items are worth a batch beside another one; beside one of less than a quarter as many, any are. */
  readonly worthAnother?: number | undefined;
  /** Called when a batch takes long: another one may begin beside it. */
  onSlow(): void;
}

/**
 * Decides when a batch may begin beside those under way. A batch costs much more than an item in it, so beside a large one
 * another begins only for many items, or when it takes long.
 */
export class BatchSlots {
  readonly #options: BatchSlotsOptions;
  #underWay = 0;
  /** Items of batches under way that do not take long yet. */
  #young = 0;

  constructor(options: BatchSlotsOptions) {
    this.#options = options;
  }

  mayBegin(waiting: number): boolean {
    const { atOnce, worthAnother = usuallyWorthAnother } = this.#options;
    return this.#underWay < atOnce && waiting >= (4 * this.#young < worthAnother ? 1 : worthAnother);
  }

  /** Begins a batch of so many items. Returns the function that ends it, which is idempotent. */
  begin(items: number): () => void {
    this.#underWay += 1;
    this.#young += items;
    let isYoung = true;
    let isUnderWay = true;
    const age = () => {
      if (isYoung) this.#young -= items;
      isYoung = false;
    };
    const timer = setTimeout(() => {
      age();
      this.#options.onSlow();
    }, usualMs);
    return () => {
      clearTimeout(timer);
      age();
      if (isUnderWay) this.#underWay -= 1;
      isUnderWay = false;
    };
  }
}
