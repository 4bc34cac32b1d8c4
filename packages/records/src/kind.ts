import type { FieldErrors } from "@tessera/kit/fault";
import type { Tx } from "@tessera/kit/pg/database";
import type { BroughtEntity } from "@tessera/protos/gen/ticketing/records/v1/records";
import type { RecordKindName } from "@tessera/protos/record-kinds";
import type { Checked, JsonSchema, Properties } from "@tessera/schema/schema";
import type { SentContent } from "@tessera/sent-files/examine-content";
import type { Examined } from "@tessera/sent-files/examined";

/** Where a record lives. `event` is empty for what belongs to the organizer itself. */
export interface Scope {
  readonly organizer: string;
  readonly event: string;
}

/** Records, or keys of records, that were refused, and why. */
export type Refusals<V> = ReadonlyMap<V, FieldErrors>;

/** Records of one kind and scope that are applied together; no key is among them twice. */
export interface Run<V, Known> {
  readonly scope: Scope;
  readonly values: readonly V[];
  readonly known: Known;
}

/** A run whose records may still be refused. */
export interface ExaminedRun<V, Known> extends Run<V, Known> {
  /** The later records of the same batch, kind and scope. */
  readonly behind: readonly Behind<V>[];
}

export interface Behind<V> {
  readonly key: string;
  /** Undefined: the record is a removal. */
  readonly value: V | undefined;
  /** When the sender removed it, in microseconds since 1970. */
  readonly removedAt?: number | null | undefined;
}

export interface Removal {
  readonly scope: Scope;
  readonly keys: readonly string[];
  /** When the sender removed some of them, in microseconds since 1970, by their keys. */
  readonly removedAt: ReadonlyMap<string, number>;
  /** The parts that later records of the batch bring, with the keys of these records: a part may move there. */
  readonly moving: ReadonlyMap<number, ReadonlySet<string>>;
}

/** A wrong element of a list of a record. */
export interface LeftOut {
  readonly list: string;
  /** In the list as it was sent. */
  readonly index: number;
  readonly element: unknown;
}

/** Bytes that a record brings along; its row refers to them by this key in the store for files. */
export interface SentFile {
  readonly key: string;
  readonly contentType: string;
  readonly content: Uint8Array;
}

/** Says what is taken of a file, or what is wrong with it. */
export type ExamineFile = (file: SentContent) => Promise<Examined>;

/** What a record would bring if it were stored. */
export interface Brought {
  /** What records may refer to it by, besides its key. A kind of records stands for all of that kind. */
  readonly names?: readonly (string | number)[];
  /** Its data that checks need, as JSON. */
  readonly data?: object;
}

/** What every owner looks up for a run: where its records live. */
export interface KnownScope {
  readonly organizer: boolean;
  /** Whether the event is a series; undefined where there is no such event. */
  readonly series: boolean | undefined;
}

/**
 * What the owner of a kind knows of its records. `Mentioned` collects what they refer to, `Known` is what of that exists.
 *
 * Reading needs no database. The rest happens in a transaction that may start over: what a run mentions is looked up, records that
 * contradict it are refused, the others are stored, and what that changed is published.
 *
 * What is wrong is named by its path. If the schema says that the record can do without that part, the part is left out with a
 * warning, and the record is read again; otherwise the record is refused.
 */
export interface RecordKind<V, Mentioned, Known> {
  readonly name: RecordKindName;
  /** What a record's `data` may be. */
  readonly schema: JsonSchema & { readonly properties: Properties };
  /** In slices, where reading takes long. `wrong` names what was sent and could not be read, by its path. */
  read(data: unknown, leftOut?: readonly LeftOut[], wrong?: readonly string[]): Checked<V> | Promise<Checked<V>>;
  /** Reads the key from the data of a removal, where that is more than to check a field. */
  readKey?(data: unknown): Checked<string>;
  /** The field that says in the data of a removal when the sender removed it. */
  readonly removedAtField?: string;
  keyOf(value: V): string;
  /** The parts of a record that may move to it from another record: no two records of a run bring the same part. */
  partsOf?(value: V): Iterable<number>;
  /** Examines the files a record brings along; returns the record, changed where a file is not taken as it is. */
  examineFiles?(value: V, examine: ExamineFile): Promise<V>;
  /** The files a record brings along that are taken. They are in the store for files before a transaction begins. */
  filesOf?(value: V, scope: Scope): Iterable<SentFile>;
  /** Collects what a record refers to. */
  mention?(value: V, mentioned: Mentioned): void;
  /** Takes over the examined files of the same record, read before with a few more parts. */
  keepFiles?(value: V, before: V): Promise<V>;
  /** Refuses records that contradict known entities, or an earlier record of the run. Called again without their wrong parts. */
  refuse?(tx: Tx, run: ExaminedRun<V, Known>): Promise<Refusals<V>>;
  /** Warns of values that are doubtful, and are stored as they were sent. */
  doubt?(run: Run<V, Known>): Refusals<V>;
  /** Returns what later records may refer to while a stream is only validated; absent: no record refers to one of this kind. */
  bring?(value: V, known: Known): Brought;
  store(tx: Tx, run: Run<V, Known>): Promise<void>;
  /** Refuses to remove what is still referred to. */
  refuseRemoval?(tx: Tx, removal: Removal): Promise<Refusals<string>>;
  /** Removes all but the parts that may move. At the end of the batch it is called for those that have not moved. */
  remove(tx: Tx, removal: Removal): Promise<void>;
  /** A removal must be committed before later records are applied. */
  readonly commitsRemoval?: boolean;
}

/** The values of a kind are opaque to all other code. */
type AnyKind<Mentioned, Known> = RecordKind<unknown, Mentioned, Known>;

export interface RecordOwner<Mentioned, Known extends KnownScope> {
  readonly kinds: readonly AnyKind<Mentioned, Known>[];
  /** Returns an empty collection. */
  nothingMentioned(): Mentioned;
  /** Looks up the entities that a run refers to, and its scope. */
  findMentioned(tx: Tx, scope: Scope, mentioned: Mentioned): Promise<Known>;
  /** Adds what earlier records of a stream would have created, in their order; these may be of other scopes and owners. */
  recall(known: Known, scope: Scope, brought: readonly BroughtEntity[]): Known;
  /** Locks the entities that a run refers to, before they are looked up. */
  lockMentioned?(tx: Tx, scope: Scope, mentioned: Mentioned): Promise<void>;
  /**
   * Locks a batch before its first lookup: an entity that a record refers to must not be deleted between that lookup and
   * the commit.
   */
  lock(tx: Tx, records: readonly LockedRecord[]): Promise<void>;
}

/** The fields of a record that decide its locks. */
export interface LockedRecord {
  readonly kind: { readonly name: RecordKindName };
  readonly scope: Scope;
  readonly key: string;
}
