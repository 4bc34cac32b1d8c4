import { type CaughtUp, settle } from "@tessera/kit/bus/settle";
import type { RecordOwnerName } from "@tessera/protos/record-kinds";
import type { RecordOwners } from "./owners.ts";

/** How long the end of an import waits until its records are visible, and an owner for the records of others. */
const longestSettleMs = 30_000;

/** The services that own records, and those that consume their facts. */
export interface ArrivalTargets {
  readonly owners: RecordOwners;
  /** By service. */
  readonly readers: ReadonlyMap<string, CaughtUp>;
}

export interface ArrivalOptions {
  /** Aborts the import; what was applied stays. */
  readonly signal?: AbortSignal | undefined;
  /** How long the whole import may wait until its records are visible. Left out: up to 30 s each time. */
  readonly settleMs?: number;
}

/** Which services may not have read yet what the owners of one import have published. */
export class Arrivals {
  readonly #targets: ArrivalTargets;
  readonly #signal: AbortSignal | undefined;
  readonly #behind = new Map<RecordOwnerName, Set<string>>();
  #leftMs: number;

  constructor(targets: ArrivalTargets, { signal, settleMs = Number.POSITIVE_INFINITY }: ArrivalOptions) {
    this.#targets = targets;
    this.#signal = signal;
    this.#leftMs = settleMs;
  }

  /** Notes that an owner has applied records. */
  expectFrom(owner: RecordOwnerName): void {
    this.#behind.set(owner, new Set(this.#targets.readers.keys()));
  }

  /** Waits until a service has read the facts of owners, as far as time is left. */
  async at(service: string, owners: readonly RecordOwnerName[]): Promise<void> {
    await this.#settle(owners, [service]);
  }

  /** Waits until every service has read everything; returns false if that takes too long. */
  async everywhere(): Promise<boolean> {
    await this.#settle([...this.#behind.keys()], [...this.#targets.readers.keys()]);
    return [...this.#behind.values()].every((services) => services.size === 0);
  }

  async #settle(owners: readonly RecordOwnerName[], services: readonly string[]): Promise<void> {
    const begun = Date.now();
    const until = begun + Math.min(longestSettleMs, this.#leftMs);
    await Promise.all(owners.map((owner) => this.#settleOwner(owner, { services, until })));
    this.#leftMs -= Date.now() - begun;
  }

  async #settleOwner(
    name: RecordOwnerName,
    { services, until }: { readonly services: readonly string[]; readonly until: number },
  ): Promise<void> {
    const behind = this.#behind.get(name) ?? new Set();
    // Taken out before, so that a batch applied meanwhile counts again.
    const asked = services.filter((service) => behind.delete(service));
    if (asked.length === 0) return;
    const readers = asked.flatMap((service) => this.#targets.readers.get(service) ?? []);
    const owner = this.#targets.owners[name].facts;
    if (await settle({ owner, readers, until, signal: this.#signal })) return;
    for (const service of asked) this.#behind.get(name)?.add(service);
  }
}
