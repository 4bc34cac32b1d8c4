import { type CaughtUp, settle } from "@tessera/kit/bus/settle";
import type { RecordOwnerName } from "@tessera/protos/record-kinds";
import type { RecordOwners } from "./owners.ts";

/** How long the end of an import waits until its records are visible, and an owner waits for the records of others. */
const longestSettleMs = 30_000;

/** The services that own records, and the services that consume their facts. */
export interface ArrivalTargets {
  readonly owners: RecordOwners;
  /** By service. */
  readonly readers: ReadonlyMap<string, CaughtUp>;
}

export interface ArrivalOptions {
  /** Aborts the import; applied records stay. */
  readonly signal?: AbortSignal | undefined;
  /** How long the whole import may wait until its records are visible. By default up to 30 s each time. */
  readonly settleMs?: number;
}

/** The services that may not have read yet what the owners of one import have published. */
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

  /** Waits until a service has read the facts of these owners; returns false after the remaining or the least time. */
  at(service: string, owners: readonly RecordOwnerName[], { leastMs = 0 } = {}): Promise<boolean> {
    return this.#settle(owners, { services: [service], leastMs });
  }

  /** Waits until every service has read everything; returns false if that takes too long. */
  everywhere(): Promise<boolean> {
    return this.#settle([...this.#behind.keys()], { services: [...this.#targets.readers.keys()], leastMs: 0 });
  }

  async #settle(
    owners: readonly RecordOwnerName[],
    { services, leastMs }: { readonly services: readonly string[]; readonly leastMs: number },
  ): Promise<boolean> {
    const begun = Date.now();
    const until = begun + Math.min(longestSettleMs, Math.max(leastMs, this.#leftMs));
    const settled = await Promise.all(owners.map((owner) => this.#settleOwner(owner, { services, until })));
    this.#leftMs -= Date.now() - begun;
    return settled.every(Boolean);
  }

  async #settleOwner(
    name: RecordOwnerName,
    { services, until }: { readonly services: readonly string[]; readonly until: number },
  ): Promise<boolean> {
    const behind = this.#behind.get(name) ?? new Set();
    // Removed first, so that a concurrently applied batch counts again.
    const asked = services.filter((service) => behind.delete(service));
    if (asked.length === 0) return true;
    const readers = asked.flatMap((service) => this.#targets.readers.get(service) ?? []);
    const owner = this.#targets.owners[name].facts;
    if (await settle({ owner, readers, until, signal: this.#signal })) return true;
    for (const service of asked) this.#behind.get(name)?.add(service);
    return false;
  }
}
