import type { Client } from "@tessera/kit/rpc";
import type { FirstEntries } from "@tessera/protos/services";
import type { Scans } from "../domain/ticket.ts";
import type { EventKey } from "../store/keys.ts";

/** Check-in reads a thousand tickets in far less. */
const usualPatienceMs = 2000;

/**
 * Asks check-in once for the first entries of at most 1000 tickets and of their add-ons. Null: check-in did not answer.
 * A ticket without scans is better than none.
 */
export async function findScans(
  firstEntries: Client<FirstEntries>,
  {
    organizer,
    event,
    signal,
    patienceMs = usualPatienceMs,
  }: EventKey & { readonly signal?: AbortSignal | undefined; readonly patienceMs?: number },
  positions: readonly number[],
): Promise<Scans | null> {
  const asked = { organizer, event, positions: [...new Set(positions)] };
  try {
    const { scanned } = await firstEntries.findFirstEntries(asked, { timeoutMs: patienceMs, signal });
    return new Map(scanned.map(({ position, firstEntryAt }) => [position, firstEntryAt ?? null]));
  } catch (error) {
    if (signal?.aborted) throw error;
    return null;
  }
}

/** Asks for the scans of a file, waiting for at most two seconds in all. */
export class PatientScans {
  readonly #firstEntries: Client<FirstEntries>;
  #patienceMs = usualPatienceMs;

  constructor(firstEntries: Client<FirstEntries>) {
    this.#firstEntries = firstEntries;
  }

  /** Null: check-in does not answer, or the two seconds are over. */
  async find(
    place: EventKey & { readonly signal?: AbortSignal | undefined },
    positions: readonly number[],
  ): Promise<Scans | null> {
    if (this.#patienceMs <= 0) return null;
    const asked = performance.now();
    const scans = await findScans(this.#firstEntries, { ...place, patienceMs: this.#patienceMs }, positions);
    if (scans === null) this.#patienceMs -= Math.ceil(performance.now() - asked);
    return scans;
  }
}
