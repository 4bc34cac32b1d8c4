import type { Record as SentRecord } from "@tessera/protos/gen/ticketing/records/v1/records";
import { explainUntaken, ownAddress, recordKinds } from "@tessera/protos/record-kinds";
import { replaceWrong } from "@tessera/schema/replace-wrong";
import { WrongFields } from "@tessera/schema/wrong-fields";
import type { RecordKind, Scope } from "./kind.ts";
import { compileKeyReader } from "./read.ts";
import { compileUnknownKeys, type UnknownKeys } from "./unknown-keys.ts";

/** A record that can be read; what it refers to is not looked at yet. */
export interface Readable<Kind> {
  readonly sent: SentRecord;
  readonly kind: Kind;
  readonly scope: Scope;
  readonly key: string;
  /** Removes the entity of the key; then there is no value. */
  readonly removal: boolean;
  readonly value: unknown;
}

/** A record that was read, or what is wrong with it. */
export type Read<Kind> =
  | { readonly ok: true; readonly value: Readable<Kind> }
  | {
      readonly ok: false;
      readonly errors: Record<string, string[]>;
      /** The record without its wrong fields, which is never stored: what it refers to can be checked. */
      readonly rest?: Readable<Kind>;
    };

/** Reads a record as far as that needs no database, and counts keys of its data that its kind does not know. */
export type ReadRecord<Kind> = (sent: SentRecord, unknownKeys: UnknownKeys) => Read<Kind>;

/** Each check of a kind that comes behind another is one more; after so many, the rest is not looked for. */
const mostRounds = 4;

/** Compiles the reader of the records of an owner. Their addresses were checked by the sender, who had to find the owner. */
export function compileRecordReader<Mentioned, Known>(
  kinds: readonly RecordKind<unknown, Mentioned, Known>[],
): ReadRecord<RecordKind<unknown, Mentioned, Known>> {
  const readers = new Map<string, ReturnType<typeof compileKind<Mentioned, Known>>>(
    kinds.map((kind) => [kind.name, compileKind(kind)]),
  );
  return (sent, unknownKeys) => {
    const read = readers.get(sent.kind);
    if (read === undefined) return wrong("kind", explainUntaken(sent.kind));
    const data = parse(sent.data);
    if (data === undefined) return wrong("non_field_errors", "`data` is not JSON in UTF-8.");
    try {
      return read(sent, data, unknownKeys);
    } catch (error) {
      if (error instanceof RangeError) return wrong("non_field_errors", "`data` is nested too deeply.");
      throw error;
    }
  };
}

function compileKind<Mentioned, Known>(kind: RecordKind<unknown, Mentioned, Known>) {
  const { name, schema } = kind;
  const { belongsTo, key: keyField } = recordKinds[name];
  const own = ownAddress(name);
  const readOnlyKey = keyField === null ? () => ({ ok: true, value: "" }) as const : compileKeyReader(schema, keyField);
  const countUnknown = compileUnknownKeys(name, schema);
  const toReadable = (sent: SentRecord, key: string, value: unknown): Readable<typeof kind> => {
    const { deleted: removal, organizer, event } = sent;
    return { sent, kind, scope: { organizer, event: belongsTo === "event" ? event : "" }, key, removal, value };
  };

  /** Looks for further mistakes, as if the wrong fields were right. */
  const readRest = (sent: SentRecord, wrongFields: WrongFields): Read<typeof kind> => {
    for (let round = 0; round < mostRounds; round += 1) {
      // Parsed once more, because reading changes it.
      const data = replaceWrong(schema, parse(sent.data), wrongFields.paths);
      if (data === undefined) break;
      const read = kind.read(data);
      if (read.ok) {
        const key = kind.keyOf(read.value);
        if (own !== undefined && sent[own] !== key) wrongFields.add(notItsOwn(own));
        return { ok: false, errors: wrongFields.toErrors(), rest: toReadable(sent, key, read.value) };
      }
      if (!wrongFields.add(read.errors)) break;
    }
    return { ok: false, errors: wrongFields.toErrors() };
  };

  return (sent: SentRecord, data: unknown, unknownKeys: UnknownKeys): Read<typeof kind> => {
    const { deleted: removal } = sent;
    // Reading fills in defaults, which were not sent.
    if (!removal) countUnknown(data, unknownKeys);
    const read = removal ? (kind.readKey ?? readOnlyKey)(data) : kind.read(data);
    if (!read.ok) return removal ? read : readRest(sent, new WrongFields(read.errors));
    const key = removal ? String(read.value) : kind.keyOf(read.value);
    if (own !== undefined && sent[own] !== key) return { ok: false, errors: notItsOwn(own) };
    return { ok: true, value: toReadable(sent, key, read.value) };
  };
}

function notItsOwn(own: string): Record<string, string[]> {
  return { slug: [`This is not the ${own} that the record names.`] };
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    // What is wrong with it is not reported: parsers quote what they read.
    return undefined;
  }
}

function wrong(field: string, message: string): { ok: false; errors: Record<string, string[]> } {
  return { ok: false, errors: { [field]: [message] } };
}
