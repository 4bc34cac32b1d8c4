import type { Client } from "@tessera/kit/rpc";
import type { FactsServiceService } from "@tessera/protos/gen/platform/v1/facts";
import type { Record as WireRecord } from "@tessera/protos/gen/ticketing/records/v1/records";
import type { Quotas, Records } from "@tessera/protos/services";
import { fault } from "../faults.ts";
import { applyRecords, mostUnexplained } from "./apply-records.ts";
import { findOverbooked } from "./find-overbooked.ts";
import type { Owner } from "./kinds.ts";
import { parseRecord } from "./parse-record.ts";
import { RecordBatches } from "./record-batches.ts";
import { type CaughtUp, settle } from "./settle.ts";
import { type Line, splitLines } from "./split-lines.ts";
import { type ImportSummary, type LineError, Tally } from "./tally.ts";

/** The services that records go to, and those that read what comes of them. */
export interface ImportTargets {
  readonly owners: Readonly<Record<Owner, RecordOwner>>;
  readonly readers: readonly CaughtUp[];
  /** Asked at the end of an import what it has overbooked. */
  readonly quotas: Client<Quotas>;
}

export interface RecordOwner {
  readonly records: Client<Records>;
  readonly facts: Pick<Client<FactsServiceService>, "markFacts">;
}

export interface ImportOptions {
  /** Told after every batch. */
  readonly onProgress?: (progress: ImportProgress) => void;
  /** Aborts the import; what was applied stays. */
  readonly signal?: AbortSignal | undefined;
  /** How long the whole import may wait until what it applied is seen; by itself each time up to 30 s. */
  readonly settleMs?: number;
}

export interface ImportProgress {
  readonly bytes: number;
  readonly records: number;
  readonly accepted: number;
}

/** An import that ended early, and what had become of it by then. */
export class ImportFailure extends Error {
  override readonly name = "ImportFailure";
  readonly summary: ImportSummary;
  override readonly cause: unknown;

  constructor(summary: ImportSummary, cause: unknown) {
    super("the import ended early");
    this.summary = summary;
    this.cause = cause;
  }
}

/** A record is an order with all its positions and file answers; this is as large as the messages between services. */
const longestLineBytes = 16 * 1024 * 1024;

/** How long the end of an import, or a check-in list, waits for everybody to see what came before. */
const longestSettleMs = 30_000;

/** What changes how much of a quota is taken, or how much of it there is. */
const kindsOfCapacity: ReadonlySet<string> = new Set(["order", "quota"]);

/**
 * Imports a stream of records, one JSON object per line, in constant memory.
 * A line that cannot be taken is reported, never the stream. Throws an
 * ImportFailure when the stream breaks or an owner stays away, and a Fault when
 * the stream holds no records at all.
 */
export async function importStream(
  source: AsyncIterable<Uint8Array>,
  targets: ImportTargets,
  options: ImportOptions = {},
): Promise<ImportSummary> {
  const run = new ImportRun(targets, options);
  try {
    await run.readAll(source);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof NotRecords || error instanceof OwnerFailure) throw await run.failure(error);
    // The stream broke: what it held up to there counts.
    throw await run.finish().then(
      (summary) => new ImportFailure(summary, error),
      (other: unknown) => run.failure(other),
    );
  }
  return run.finish().catch(async (error: unknown) => {
    options.signal?.throwIfAborted();
    throw await run.failure(error);
  });
}

/**
 * Imports records that arrive one by one, each by itself in JSON, in their order. Returns what is wrong with those that
 * were rejected, by their place; whether anybody sees the others yet is not waited for. Throws what the owner threw when
 * it stays away or fails too often.
 */
export async function importMessages(
  messages: readonly Uint8Array[],
  targets: ImportTargets,
  options: ImportOptions = {},
): Promise<Map<number, LineError>> {
  const run = new ImportRun(targets, options);
  const errors = await run.takeAll(messages).catch((error: unknown) => {
    throw error instanceof OwnerFailure ? error.cause : error;
  });
  return new Map(errors.map((error) => [error.line - 1, error]));
}

class NotRecords extends Error {}

/** An owner failed, as opposed to the stream. */
class OwnerFailure extends Error {}

class ImportRun {
  readonly #targets: ImportTargets;
  readonly #options: ImportOptions;
  readonly #tally = new Tally();
  readonly #batches: Readonly<Record<Owner, RecordBatches>>;
  readonly #patience = { unexplained: mostUnexplained };
  /** Owners that have applied something since everybody has caught up with them. */
  readonly #unsettled = new Set<Owner>();
  /** Events, by organizer, whose quotas may be overbooked now. */
  readonly #booked = new Map<string, Set<string>>();
  #settleLeftMs: number;
  #bytes = 0;
  #sawRecord = false;

  constructor(targets: ImportTargets, options: ImportOptions) {
    this.#targets = targets;
    this.#options = options;
    this.#settleLeftMs = options.settleMs ?? Number.POSITIVE_INFINITY;
    this.#batches = {
      boxoffice: new RecordBatches((batch) => this.#apply("boxoffice", batch)),
      // What a check-in list refers to must have arrived in checkin before the list does.
      checkin: new RecordBatches(async (batch) => {
        await this.#batches.boxoffice.flush();
        await this.#settle(["boxoffice"]);
        await this.#apply("checkin", batch);
      }),
    };
  }

  async readAll(source: AsyncIterable<Uint8Array>): Promise<void> {
    const splitter = splitLines({ maxBytes: longestLineBytes });
    for await (const piece of source) {
      this.#options.signal?.throwIfAborted();
      this.#bytes += piece.length;
      for (const line of splitter.push(piece)) await this.#take(line);
    }
    for (const line of splitter.end()) await this.#take(line);
    if (!this.#sawRecord) throw new NotRecords("The body holds no records: send one JSON object per line.");
  }

  async takeAll(messages: readonly Uint8Array[]): Promise<readonly LineError[]> {
    // Whatever the first is, these are records: nobody has to be told that he sent something else.
    this.#sawRecord = true;
    for (const [index, message] of messages.entries()) {
      const line = { number: index + 1, bytes: Buffer.from(message) };
      if (!isBlank(line.bytes)) await this.#take(line);
      else
        this.#tally.reject({ line: line.number, kind: null, errors: { non_field_errors: ["The message is empty."] } });
    }
    await this.#flush();
    const { errors, rejected } = this.#tally.summary({ settled: false, overbooked: null });
    // What is not told would count as taken.
    if (errors.length < rejected) throw new Error(`of ${rejected} rejected records only ${errors.length} are told`);
    return errors;
  }

  async #take({ number, bytes }: Line): Promise<void> {
    if (bytes === undefined) {
      this.#sawRecord = true;
      const message = `The line is longer than ${longestLineBytes} bytes.`;
      return this.#tally.reject({ line: number, kind: null, errors: { non_field_errors: [message] } });
    }
    if (isBlank(bytes)) return;
    const parsed = parseRecord(number, bytes);
    if ("errors" in parsed) {
      const { errors, kind, notAnObject } = parsed;
      if (notAnObject && !this.#sawRecord)
        throw new NotRecords("The body is not NDJSON: its first line is not a JSON object.");
      this.#sawRecord = true;
      return this.#tally.reject({ line: number, kind, errors });
    }
    this.#sawRecord = true;
    const { owner, record } = parsed;
    // Lists may wait for what comes after them, but not for the removal of what they refer to.
    if (owner === "boxoffice" && record.deleted) await this.#batches.checkin.flush();
    await this.#batches[owner].add(record);
  }

  async #apply(owner: Owner, batch: readonly WireRecord[]): Promise<void> {
    const { signal, onProgress } = this.#options;
    const { applyRecords: apply } = this.#targets.owners[owner].records;
    const rejections = await applyRecords(batch, { apply, signal, patience: this.#patience }).catch(
      (cause: unknown) => {
        throw new OwnerFailure(`${owner} did not apply a batch`, { cause });
      },
    );
    const rejected = new Map(rejections.map(({ line, errors }) => [line, errors]));
    for (const record of batch) {
      const { line, kind } = record;
      const errors = rejected.get(line);
      if (errors === undefined) this.#accept(record);
      else
        this.#tally.reject({
          line,
          kind,
          errors: Object.fromEntries(errors.map(({ field, messages }) => [field, messages])),
        });
    }
    this.#unsettled.add(owner);
    onProgress?.({ bytes: this.#bytes, records: this.#tally.records, accepted: this.#tally.accepted });
  }

  #accept({ kind, organizer, event }: WireRecord): void {
    this.#tally.accept(kind);
    if (!kindsOfCapacity.has(kind)) return;
    const events = this.#booked.get(organizer);
    if (events === undefined) this.#booked.set(organizer, new Set([event]));
    else events.add(event);
  }

  /** Applies what has been gathered, and waits until it is visible everywhere. */
  async finish(): Promise<ImportSummary> {
    await this.#flush();
    const { signal } = this.#options;
    const [overbooked] = await Promise.all([
      findOverbooked(this.#booked, { quotas: this.#targets.quotas, signal }),
      this.#settle([...this.#unsettled]),
    ]);
    return this.#tally.summary({ settled: this.#unsettled.size === 0, overbooked });
  }

  async #flush(): Promise<void> {
    await this.#batches.boxoffice.flush();
    await this.#batches.checkin.flush();
  }

  async #settle(owners: readonly Owner[]): Promise<void> {
    const begun = Date.now();
    const until = begun + Math.min(longestSettleMs, this.#settleLeftMs);
    const { signal } = this.#options;
    await Promise.all(
      owners.map(async (name) => {
        // Cleared before, so that a batch applied meanwhile counts again.
        if (!this.#unsettled.delete(name)) return;
        const owner = this.#targets.owners[name].facts;
        if (!(await settle({ owner, readers: this.#targets.readers, until, signal }))) this.#unsettled.add(name);
      }),
    );
    this.#settleLeftMs -= Date.now() - begun;
  }

  /** Says how an import ended that could not be finished. */
  async failure(error: unknown): Promise<Error> {
    if (error instanceof NotRecords) return fault("not_records", error.message);
    // Batches that are still under way belong to the count.
    await Promise.allSettled([this.#batches.boxoffice.flush(), this.#batches.checkin.flush()]);
    const cause = error instanceof OwnerFailure ? error.cause : error;
    return new ImportFailure(this.#tally.summary({ settled: false, overbooked: null }), cause);
  }
}

/** Blank lines are nothing, as in most readers of the format. */
function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
