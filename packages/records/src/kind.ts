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

/** Such records while it is examined what becomes of them. */
export interface ExaminedRun<V, Known> extends Run<V, Known> {
  /** What the same batch has of the same kind and scope behind them. */
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
  /** What records behind them in the batch bring, with the keys of these records: it may move there. */
  readonly moving: ReadonlyMap<number, ReadonlySet<string>>;
}

/** An element that a list of a record was sent with, and that is wrong. */
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
  /** By what records may mean it besides its key. A kind of records stands for all of that kind. */
  readonly names?: readonly (string | number)[];
  /** What checks need to know of it, as JSON. */
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
  /** What a record brings that may move to it from another one: no two records of a run bring the same. */
  partsOf?(value: V): Iterable<number>;
  /** Examines the files a record brings along; returns the record, changed where a file is not taken as it is. */
  examineFiles?(value: V, examine: ExamineFile): Promise<V>;
  /** The files a record brings along that are taken. They are in the store for files before a transaction begins. */
  filesOf?(value: V, scope: Scope): Iterable<SentFile>;
  /** Collects what a record refers to. */
  mention?(value: V, mentioned: Mentioned): void;
  /** Takes over the files of a record that was read before. This one is the same, without a few of its parts. */
  keepFiles?(value: V, before: V): Promise<V>;
  /** Finds what contradicts what is known, or an earlier record of the run. Is called again for what is left of them. */
  refuse?(tx: Tx, run: ExaminedRun<V, Known>): Promise<Refusals<V>>;
  /** Names what is doubtful of records, and is taken as it was sent. */
  doubt?(run: Run<V, Known>): Refusals<V>;
  /** Says what other records may know of this one while it is validated only; absent: none refers to one. */
  bring?(value: V, known: Known): Brought;
  store(tx: Tx, run: Run<V, Known>): Promise<void>;
  /** Refuses to remove what is still referred to. */
  refuseRemoval?(tx: Tx, removal: Removal): Promise<Refusals<string>>;
  /** Removes all but what may move. At the end of the batch it is called for the rest. */
  remove(tx: Tx, removal: Removal): Promise<void>;
  /** What a removal has begun must be committed before records behind it are applied. */
  readonly commitsRemoval?: boolean;
}

/** What a kind makes of its records stays with that kind: nothing else looks into it. */
type AnyKind<Mentioned, Known> = RecordKind<unknown, Mentioned, Known>;

export interface RecordOwner<Mentioned, Known extends KnownScope> {
  readonly kinds: readonly AnyKind<Mentioned, Known>[];
  /** Returns an empty collection. */
  nothingMentioned(): Mentioned;
  /** Looks up what a run mentions, and where it lives. */
  findMentioned(tx: Tx, scope: Scope, mentioned: Mentioned): Promise<Known>;
  /** Adds what records before in a stream would have brought, in their order. It may be of other scopes and owners. */
  recall(known: Known, scope: Scope, brought: readonly BroughtEntity[]): Known;
  /** Takes what a run must hold of what it refers to before that is looked up. */
  lockMentioned?(tx: Tx, scope: Scope, mentioned: Mentioned): Promise<void>;
  /**
   * Takes what a batch must hold before it looks anything up: between looking up what a record refers to and storing it
   * nothing may come that takes it away.
   */
  lock(tx: Tx, records: readonly LockedRecord[]): Promise<void>;
}

/** What locks follow from. */
export interface LockedRecord {
  readonly kind: { readonly name: RecordKindName };
  readonly scope: Scope;
  readonly key: string;
}
