import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FieldError, Record as WireRecord } from "@tessera/protos/gen/ticketing/records/v1/records";
import { type RecordOwnerName, recordKinds } from "@tessera/protos/record-kinds";
import { fault } from "../faults.ts";
import type { FieldWarnings } from "../store/record-warnings.ts";
import { applyRecords, mostUnexplained } from "./apply-records.ts";
import { type ArrivalOptions, Arrivals, type ArrivalTargets } from "./arrivals.ts";
import { BroughtEntities } from "./brought-entities.ts";
import {
  type ConflictFinders,
  type EventSet,
  findAmbiguousSecrets,
  findOverbooked,
  nameEvent,
} from "./find-conflicts.ts";
import { findOtherFormat } from "./other-format.ts";
import { findNotOwn, findOperatorKey, type RecordSender } from "./own-records.ts";
import { readLine } from "./read-line.ts";
import { RecordBatches } from "./record-batches.ts";
import { isBlank, type Line, splitLines } from "./split-lines.ts";
import type { ImportSummary, LineError } from "./summary.ts";
import { type RecordOutcome, Tally, usualErrors } from "./tally.ts";

export interface ImportTargets extends ConflictFinders, ArrivalTargets {
  readonly onRecord?: (outcome: RecordOutcome) => void;
  readonly isOperatorKey: (token: string) => boolean;
  /** Called for each batch with warnings. */
  readonly noteWarnings?: (warnings: readonly FieldWarnings[]) => Promise<void>;
}

export interface ImportOptions extends ArrivalOptions {
  /** How many rejected lines the summary lists; by default a thousand. */
  readonly mostErrors?: number;
  /** Validates only: stores nothing, and counts as no import. */
  readonly validate?: boolean;
  /** Who sends it; undefined: the operator, who may bring everything. */
  readonly sender?: RecordSender | undefined;
  /** Called after every batch. */
  readonly onProgress?: (progress: ImportProgress) => void;
}

export interface ImportProgress {
  readonly bytes: number;
  readonly records: number;
  readonly accepted: number;
}

/** An import that ended early, with its result so far. */
export class ImportFailure extends Error {
  override readonly name = "ImportFailure";
  readonly summary: ImportSummary;

  constructor(summary: ImportSummary, cause: unknown) {
    super("the import ended early", { cause });
    this.summary = summary;
  }
}

/** A record is an order with all positions and file answers; the limit is that of messages between services. */
const longestLineBytes = 16 * 1024 * 1024;

/** If a body begins with this many lines without a JSON object, it holds no records. */
const mostStrangeLines = 10;

/** Kinds that change the use or the size of quotas. */
const kindsOfCapacity: ReadonlySet<string> = new Set(["order", "quota"]);

/** The least time for an owner to learn of a removal, even if the import may wait no longer. */
const leastHearingMs = 2000;

/**
 * Imports a stream of records, one JSON object per line, in constant memory.
 * A bad line is reported, and all others are imported. Throws an ImportFailure if the stream breaks or an owner stays
 * unavailable, and a Fault if the stream holds no records.
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
    // The stream broke: earlier records count.
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
 * Imports messages of one record each, in order. Returns the errors of rejected ones, by index, without waiting for
 * visibility. Throws the owner's error if the owner stays unavailable or fails too often.
 */
export async function importMessages(
  messages: readonly Uint8Array[],
  targets: ImportTargets,
  options: ImportOptions = {},
): Promise<Map<number, LineError>> {
  // Otherwise a rejected record beyond the limit would count as applied.
  const run = new ImportRun(targets, { ...options, mostErrors: messages.length });
  const errors = await run.takeAll(messages).catch((error: unknown) => {
    throw error instanceof OwnerFailure ? error.cause : error;
  });
  return new Map(errors.map((error) => [error.line - 1, error]));
}

const noObject = "The body is not NDJSON: its first lines are not JSON objects. Send one record per line.";

const lineBreaksLost =
  "Of a file whose line breaks were lost, all records are one line: curl keeps them with --data-binary.";

class NotRecords extends Error {}

class OwnerFailure extends Error {}

class ImportRun {
  /** Identifies the import among others that take turns. */
  readonly #name = randomUUID();
  readonly #targets: ImportTargets;
  readonly #options: ImportOptions;
  readonly #tally: Tally;
  readonly #batches: ReadonlyMap<RecordOwnerName, RecordBatches>;
  readonly #patience = { unexplained: mostUnexplained };
  readonly #arrivals: Arrivals;
  /** Only if records are merely validated. */
  readonly #brought: BroughtEntities | undefined;
  /** Events whose quotas may be overbooked now. */
  readonly #booked: EventSet = new Set();
  /** Events in which several tickets may have one secret now. */
  readonly #sold: EventSet = new Set();
  /** By removed event, the owners that may not have learned of its removal. */
  readonly #unheard = new Map<string, Set<RecordOwnerName>>();
  #bytes = 0;
  #sawRecord = false;
  #strangeLines = 0;

  constructor(targets: ImportTargets, options: ImportOptions) {
    this.#targets = targets;
    const { mostErrors = usualErrors, validate = false } = options;
    this.#tally = new Tally({ mostErrors, ...(validate ? {} : targets) });
    this.#brought = validate ? new BroughtEntities() : undefined;
    this.#options = options;
    this.#arrivals = new Arrivals(targets, options);
    const names = Object.keys(targets.owners) as RecordOwnerName[];
    this.#batches = new Map(
      names.map((owner) => [owner, new RecordBatches((batch) => this.#applyAfterOthers(owner, batch))]),
    );
  }

  async readAll(source: AsyncIterable<Uint8Array>): Promise<void> {
    const splitter = splitLines({ maxBytes: longestLineBytes });
    for await (const piece of source) {
      this.#options.signal?.throwIfAborted();
      this.#bytes += piece.length;
      for (const line of splitter.push(piece)) await this.#take(line);
    }
    for (const line of splitter.end()) await this.#take(line);
    if (this.#sawRecord) return;
    throw new NotRecords(this.#strangeLines === 0 ? "The body is empty: send one JSON object per line." : noObject);
  }

  async takeAll(messages: readonly Uint8Array[]): Promise<readonly LineError[]> {
    // The stream holds records: another format is ruled out.
    this.#sawRecord = true;
    for (const [index, message] of messages.entries()) {
      const line = { number: index + 1, bytes: Buffer.from(message) };
      if (!isBlank(line.bytes)) await this.#take(line);
      else
        this.#tally.reject({ line: line.number, kind: null, errors: { non_field_errors: ["The message is empty."] } });
    }
    await this.#flush(this.#batches.keys());
    return this.#tally.summary(undetermined).errors;
  }

  async #take({ number, bytes }: Line): Promise<void> {
    if (bytes === undefined) {
      this.#sawRecord = true;
      const lost = number === 1 ? ` ${lineBreaksLost}` : "";
      const message = `The line is longer than ${longestLineBytes} bytes.${lost}`;
      return this.#tally.reject({ line: number, kind: null, errors: { non_field_errors: [message] } });
    }
    const parsed = await readLine(number, bytes);
    if ("errors" in parsed) {
      const { errors, kind, notAnObject } = parsed;
      if (!this.#sawRecord && notAnObject) this.#meetStrangeLine(bytes);
      else this.#sawRecord = true;
      return this.#tally.reject({ line: number, kind, errors });
    }
    this.#sawRecord = true;
    const { owner, record } = parsed;
    const { sender } = this.#options;
    const errors =
      findOperatorKey(record, this.#targets.isOperatorKey) ??
      (sender === undefined ? undefined : findNotOwn(record, sender));
    if (errors !== undefined) return this.#tally.reject({ line: number, kind: record.kind, errors });
    // Waiting records may refer to the deleted one, so they are applied first.
    if (record.deleted) await this.#flush(this.#waitingFor(owner));
    await this.#batches.get(owner)?.add(record);
  }

  /** Refuses the stream once it is clear that it holds no records; until then the line is an ordinary bad line. */
  #meetStrangeLine(bytes: Buffer): void {
    const otherFormat = this.#strangeLines === 0 ? findOtherFormat(bytes) : undefined;
    if (otherFormat !== undefined) throw new NotRecords(otherFormat);
    this.#strangeLines += 1;
    if (this.#strangeLines === mostStrangeLines) throw new NotRecords(noObject);
  }

  #waitingFor(owner: RecordOwnerName): RecordOwnerName[] {
    return [...this.#batches.keys()].filter((name) => this.#targets.owners[name].after.includes(owner));
  }

  /**
   * Applies a batch when the entities that it may refer to have arrived at its owner. An owner that stays behind gets
   * the batch anyway, and rejects unknown references; but records of a removed event must wait, because the owner would
   * accept them, and delete them with the former event.
   */
  async #applyAfterOthers(owner: RecordOwnerName, batch: readonly WireRecord[]): Promise<void> {
    const { after } = this.#targets.owners[owner];
    await this.#flush(after);
    const mustHear = batch.some((record) => this.#unheard.get(nameEvent(record))?.has(owner) === true);
    if (await this.#arrivals.at(owner, after, { leastMs: mustHear ? leastHearingMs : 0 })) {
      for (const owners of this.#unheard.values()) owners.delete(owner);
    } else if (mustHear) {
      const message = `${owner} has not heard yet that an event was removed; send the records again later`;
      const cause = fault("owner_unavailable", message, { retryAfterMs: 5000 });
      throw new OwnerFailure(`${owner} did not get a batch`, { cause });
    }
    await this.#apply(owner, batch);
  }

  async #apply(owner: RecordOwnerName, batch: readonly WireRecord[]): Promise<void> {
    const { signal, onProgress } = this.#options;
    const { records, turns } = this.#targets.owners[owner];
    const apply = this.#brought?.validateBy(records) ?? records.applyRecords;
    // Yields to the event loop between reading and applying a large batch.
    await nextTurn();
    const work = () => applyRecords(batch, { apply, signal, patience: this.#patience });
    const response = await turns.run({ party: this.#name, amount: 1, signal }, work).catch((cause: unknown) => {
      throw new OwnerFailure(`${owner} did not apply a batch`, { cause });
    });
    const rejected = new Map(response.rejected.map(({ line, errors }) => [line, errors]));
    const warned = new Map(response.warned?.records.map(({ line, errors }) => [line, errors]));
    for (const ignored of response.ignored?.keys ?? []) this.#tally.ignore(ignored);
    for (const record of batch) {
      const { line, kind } = record;
      const errors = rejected.get(line);
      if (errors !== undefined) {
        this.#tally.reject({ line, kind, errors: byField(errors) });
        continue;
      }
      this.#accept(record);
      const warnings = warned.get(line);
      if (warnings !== undefined) this.#tally.warn({ line, kind, warnings: byField(warnings) });
    }
    const met = countFields(batch, warned);
    if (this.#brought === undefined) {
      if (met.length > 0) await this.#targets.noteWarnings?.(met);
      this.#arrivals.expectFrom(owner);
    }
    onProgress?.({ bytes: this.#bytes, records: this.#tally.records, accepted: this.#tally.accepted });
  }

  #accept(record: WireRecord): void {
    const { kind, deleted } = record;
    this.#tally.accept(kind);
    if (this.#brought !== undefined) return;
    if (kind === "event" && deleted)
      this.#unheard.set(nameEvent(record), new Set(this.#waitingFor(recordKinds.event.owner)));
    if (kindsOfCapacity.has(kind)) this.#booked.add(nameEvent(record));
    if (kind === "order") this.#sold.add(nameEvent(record));
  }

  /** Applies all collected records, and waits until they are visible everywhere. */
  async finish(): Promise<ImportSummary> {
    await this.#flush(this.#batches.keys());
    if (this.#brought !== undefined) return this.#tally.summary(undetermined);
    const { signal } = this.#options;
    const { quotas, tickets } = this.#targets;
    const [settled, ambiguous_secrets] = await Promise.all([
      this.#arrivals.everywhere(),
      findAmbiguousSecrets(this.#sold, { tickets, signal }),
    ]);
    // Last: vouchers take quotas only when boxoffice has their facts.
    const overbooked = await findOverbooked(this.#booked, { quotas, signal });
    return this.#tally.summary({ settled, overbooked, ambiguous_secrets });
  }

  async #flush(owners: Iterable<RecordOwnerName>): Promise<void> {
    for (const owner of owners) await this.#batches.get(owner)?.flush();
  }

  /** Makes the error of an import that could not finish. */
  async failure(error: unknown): Promise<Error> {
    if (error instanceof NotRecords) return fault("not_records", error.message);
    // Batches in progress still count.
    await Promise.allSettled(Array.from(this.#batches.values(), (batches) => batches.flush()));
    const cause = error instanceof OwnerFailure ? error.cause : error;
    return new ImportFailure(this.#tally.summary(undetermined), cause);
  }
}

function countFields(
  batch: readonly WireRecord[],
  warned: ReadonlyMap<number, readonly FieldError[]>,
): readonly FieldWarnings[] {
  const counts = new Map<string, FieldWarnings>();
  for (const { line, kind } of batch) {
    for (const { field: path } of warned.get(line) ?? []) {
      const field = path.replaceAll(/\.\d+(?=\.|$)/g, "");
      const name = `${kind} ${field}`;
      counts.set(name, { kind, field, count: (counts.get(name)?.count ?? 0) + 1 });
    }
  }
  return [...counts.values()];
}

function byField(errors: readonly FieldError[]): Record<string, string[]> {
  return Object.fromEntries(errors.map(({ field, messages }) => [field, messages]));
}

/** Fields of the summary that a failed import or a validation leaves undetermined. */
const undetermined = { settled: false, overbooked: null, ambiguous_secrets: null } as const;
