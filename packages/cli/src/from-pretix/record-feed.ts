import { Readable } from "node:stream";
import { isTransient } from "@tessera/kit/fault";
import { backoff } from "@tessera/kit/waiting/backoff";
import { pause } from "@tessera/kit/waiting/pause";
import { fault } from "../faults.ts";
import type { ImportAnswer } from "../import/import-answer.ts";

/** The part of the platform's answer that an import from pretix reads. */
export type SentAnswer = Omit<ImportAnswer, "accepted" | "kinds" | "ignored">;

export type SendRecords = (body: AsyncIterable<Uint8Array>) => Promise<SentAnswer>;

interface FedRecord {
  readonly kind: string;
  readonly organizer: string;
  readonly event?: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What identifies a record for a person. */
export interface SentRecord {
  readonly kind: string;
  readonly event: string;
  readonly key: string;
}

interface FeedOptions {
  readonly send: SendRecords;
  /** Called with the records of each import and the platform's answer to them. */
  readonly onStored: (records: readonly SentRecord[], answer: SentAnswer) => void;
  /** Called after the work of marks is done. */
  readonly onMarked: () => Promise<void>;
  readonly onWait: (text: string) => void;
  readonly firstPauseMs: number | undefined;
  readonly recordsAtOnce: number | undefined;
}

interface Batch {
  readonly lines: Uint8Array[];
  readonly records: SentRecord[];
  readonly marks: (() => void)[];
  bytes: number;
}

/** As many records as a batch of an owner, and few bytes: a batch waits in memory while the platform is down. */
const mostRecords = 500;
const mostBytes = 4 * 1024 * 1024;

/** With a pause of one second after the first try, the platform has half a minute to come back. */
const tries = 6;

/**
 * Sends records in small imports, one at a time, while the next one is collected. A mark is work that waits until
 * everything before it is stored: the recorded progress must never be ahead of the stored records.
 */
export class RecordFeed {
  readonly #options: FeedOptions;
  #batch: Batch = emptyBatch();
  #inFlight: Promise<void> = Promise.resolve();
  /** Whether the platform has answered before: only then a failure is retried. */
  #answered = false;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** Adds a record; resolves when there is room for another. */
  async add(record: FedRecord): Promise<void> {
    const line = Buffer.from(`${JSON.stringify(record)}\n`);
    const batch = this.#batch;
    if (batch.lines.length > 0 && batch.bytes + line.length > mostBytes) await this.#flush();
    const { kind, event = "", data } = record;
    this.#batch.lines.push(line);
    this.#batch.records.push({ kind, event, key: keyOf(data) });
    this.#batch.bytes += line.length;
    if (this.#batch.lines.length >= (this.#options.recordsAtOnce ?? mostRecords)) await this.#flush();
  }

  /** Runs the work when everything added so far is stored. */
  mark(work: () => void): void {
    this.#batch.marks.push(work);
  }

  /** Sends the rest, and waits until everything is stored. */
  async finish(): Promise<void> {
    await this.#flush();
    await this.#inFlight;
  }

  async #flush(): Promise<void> {
    await this.#inFlight;
    const batch = this.#batch;
    this.#batch = emptyBatch();
    this.#inFlight = this.#deliver(batch);
    // The next flush reports the failure.
    this.#inFlight.catch(() => {});
  }

  async #deliver(batch: Batch): Promise<void> {
    const { onStored, onMarked } = this.#options;
    if (batch.lines.length > 0) {
      const answer = await this.#send(batch);
      const isComplete = answer.records === batch.lines.length && answer.errors.length === answer.rejected;
      if (!isComplete) throw fault("odd_import_answer", "the platform does not report every record; is --url right?");
      onStored(batch.records, answer);
    }
    for (const work of batch.marks) work();
    if (batch.marks.length > 0) await onMarked();
  }

  async #send(batch: Batch): Promise<SentAnswer> {
    const { send, onWait, firstPauseMs = 1000 } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const answer = await send(Readable.from(batch.lines));
        this.#answered = true;
        return answer;
      } catch (error) {
        // Records may have been stored without an answer; resending is idempotent.
        if (!isTransient(error) || !this.#answered || attempt >= tries) throw error;
        const waitMs = backoff({ firstMs: firstPauseMs }, attempt);
        onWait(`the platform does not answer; trying again in ${Math.ceil(waitMs / 1000)} s`);
        await pause(waitMs);
      }
    }
  }
}

function emptyBatch(): Batch {
  return { lines: [], records: [], marks: [], bytes: 0 };
}

/** The name of the object for an operator; never a secret or token. */
function keyOf(data: Readonly<Record<string, unknown>>): string {
  for (const name of ["id", "code", "slug", "identifier"]) {
    const value = Object.hasOwn(data, name) ? data[name] : undefined;
    if (typeof value === "number" || typeof value === "string") return String(value);
  }
  return "";
}
