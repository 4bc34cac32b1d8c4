import type { Record as WireRecord } from "@tessera/protos/gen/ticketing/records/v1/records";

/** As many as one transaction of an owner should hold. */
const mostRecords = 500;

/** Far below the limit of a message; a larger record is sent alone. */
const mostBytes = 1024 * 1024;

/** The approximate size of a record without its data. */
const envelopeBytes = 100;

/**
 * Collects records for one owner, and applies them in full batches, one at a time. While a batch is applied the next is
 * collected; then callers wait (backpressure).
 */
export class RecordBatches {
  readonly #apply: (batch: readonly WireRecord[]) => Promise<void>;
  #pending: WireRecord[] = [];
  #bytes = 0;
  #inFlight: Promise<void> = Promise.resolve();

  constructor(apply: (batch: readonly WireRecord[]) => Promise<void>) {
    this.#apply = apply;
  }

  /** Adds a record; resolves when there is room for another. */
  async add(record: WireRecord): Promise<void> {
    const bytes = record.data.length + envelopeBytes;
    if (this.#pending.length > 0 && this.#bytes + bytes > mostBytes) await this.#send();
    this.#pending.push(record);
    this.#bytes += bytes;
    if (this.#pending.length >= mostRecords) await this.#send();
  }

  /** Resolves when all records so far are applied. */
  async flush(): Promise<void> {
    await this.#send();
    await this.#inFlight;
  }

  async #send(): Promise<void> {
    // Repeated, because another caller may have sent a batch in between.
    for (let awaited: Promise<void> | undefined; awaited !== this.#inFlight; ) {
      awaited = this.#inFlight;
      await awaited;
    }
    if (this.#pending.length === 0) return;
    const batch = this.#pending;
    this.#pending = [];
    this.#bytes = 0;
    this.#inFlight = this.#apply(batch);
    // The next call of `send` or `flush` throws the error.
    this.#inFlight.catch(() => {});
  }
}
