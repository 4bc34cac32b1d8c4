import { backoff } from "@tessera/kit/backoff";
import { isTransient } from "@tessera/kit/fault";
import { pause } from "@tessera/kit/pause";
import type { AmbiguousSecret } from "../ambiguous-secret.ts";
import { fault } from "../faults.ts";

/** What the platform answers to a stream of records. */
export interface SentAnswer {
  readonly records: number;
  readonly errors: readonly { readonly line: number; readonly errors: Readonly<Record<string, readonly string[]>> }[];
  readonly rejected: number;
  readonly settled: boolean;
  /** Null where nobody could say. */
  readonly overbooked?: readonly Overbooked[] | null;
  readonly ambiguous_secrets?: readonly Ambiguous[] | null;
}

/** A secret that several tickets have. */
export type Ambiguous = Omit<AmbiguousSecret, "organizer">;

export interface Overbooked {
  readonly event: string;
  readonly quota: number;
  readonly size: number;
  readonly taken: number;
}

export type SendRecords = (body: AsyncIterable<Uint8Array>) => Promise<SentAnswer>;

export interface FedRecord {
  readonly kind: string;
  readonly organizer: string;
  readonly event?: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Rejection {
  readonly kind: string;
  readonly event: string;
  readonly key: string;
  readonly errors: Readonly<Record<string, readonly string[]>>;
}

export interface FeedOptions {
  readonly send: SendRecords;
  /** Called when the platform has stored what came before marks, and their work is done. */
  readonly onAcknowledged: () => Promise<void>;
  readonly onRejected: (rejection: Rejection) => void;
  readonly onSent: (kind: string) => void;
  readonly onOverbooked?: (quota: Overbooked) => void;
  readonly onAmbiguous?: (secret: Ambiguous) => void;
  readonly onWait?: (text: string) => void;
  readonly firstPauseMs?: number | undefined;
  readonly recordsAtOnce?: number | undefined;
}

interface Batch {
  readonly lines: Uint8Array[];
  readonly of: Omit<Rejection, "errors">[];
  readonly marks: (() => void)[];
  bytes: number;
}

/** As many as one batch of an owner, and so few bytes that a batch can wait in memory while the platform is away. */
const mostRecords = 500;
const mostBytes = 4 * 1024 * 1024;

/** With a second before the second try, the platform has half a minute to come back. */
const tries = 6;

/**
 * Sends records in small imports, one at a time, while the next is gathered. A mark is work that must wait until
 * everything that was added before it is stored: what is remembered about a source must never run ahead of what is here.
 */
export class RecordFeed {
  readonly #options: FeedOptions;
  #batch: Batch = emptyBatch();
  #inFlight: Promise<void> = Promise.resolve();
  /** Whether the platform has answered before: only then is it worth waiting for. */
  #answered = false;
  settled = true;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** Takes a record; resolves when there is room for another. */
  async add(record: FedRecord): Promise<void> {
    const line = Buffer.from(`${JSON.stringify(record)}\n`);
    const batch = this.#batch;
    if (batch.lines.length > 0 && batch.bytes + line.length > mostBytes) await this.#flush();
    const { kind, event = "", data } = record;
    this.#batch.lines.push(line);
    this.#batch.of.push({ kind, event, key: keyOf(data) });
    this.#batch.bytes += line.length;
    if (this.#batch.lines.length >= (this.#options.recordsAtOnce ?? mostRecords)) await this.#flush();
  }

  /** Does something when everything added so far is stored. */
  mark(work: () => void): void {
    this.#batch.marks.push(work);
  }

  /** Sends what is left, and waits until all of it is stored. */
  async finish(): Promise<void> {
    await this.#flush();
    await this.#inFlight;
  }

  async #flush(): Promise<void> {
    await this.#inFlight;
    const batch = this.#batch;
    this.#batch = emptyBatch();
    this.#inFlight = this.#deliver(batch);
    // Who comes next sees it.
    this.#inFlight.catch(() => {});
  }

  async #deliver(batch: Batch): Promise<void> {
    if (batch.lines.length > 0) this.#count(batch, await this.#send(batch));
    for (const work of batch.marks) work();
    if (batch.marks.length > 0) await this.#options.onAcknowledged();
  }

  #count(batch: Batch, answer: SentAnswer): void {
    const isWhole = answer.records === batch.lines.length && answer.errors.length === answer.rejected;
    if (!isWhole) throw fault("odd_import_answer", "the platform does not account for every record; is --url right?");
    if (!answer.settled) this.settled = false;
    for (const quota of answer.overbooked ?? []) this.#options.onOverbooked?.(quota);
    for (const secret of answer.ambiguous_secrets ?? []) this.#options.onAmbiguous?.(secret);
    for (const { kind } of batch.of) this.#options.onSent(kind);
    for (const { line, errors } of answer.errors) {
      const record = batch.of[line - 1];
      if (record !== undefined) this.#options.onRejected({ ...record, errors });
    }
  }

  async #send(batch: Batch): Promise<SentAnswer> {
    const { send, onWait, firstPauseMs = 1000 } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const answer = await send(streamOf(batch.lines));
        this.#answered = true;
        return answer;
      } catch (error) {
        // Records that arrived although nobody said so change nothing when they come again.
        const isPassing = isTransient(error) && this.#answered;
        if (!isPassing || attempt >= tries) throw error;
        const waitMs = backoff({ firstMs: firstPauseMs }, attempt);
        onWait?.(`the platform is away; trying again in ${Math.ceil(waitMs / 1000)} s`);
        await pause(waitMs);
      }
    }
  }
}

function emptyBatch(): Batch {
  return { lines: [], of: [], marks: [], bytes: 0 };
}

async function* streamOf(lines: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* lines;
}

/** What an operator finds the thing by. Secrets and tokens are never a key here. */
function keyOf(data: Readonly<Record<string, unknown>>): string {
  for (const name of ["id", "code", "slug", "identifier"]) {
    const value = Object.hasOwn(data, name) ? data[name] : undefined;
    if (typeof value === "number" || typeof value === "string") return String(value);
  }
  return "";
}
