import { setImmediate } from "node:timers/promises";
import type { FieldErrors } from "@tessera/kit/fault";
import type { Record as SentRecord } from "@tessera/protos/gen/ticketing/records/v1/records";
import { explainUntaken, ownAddress, recordKinds } from "@tessera/protos/record-kinds";
import { Draft } from "./draft.ts";
import type { RecordKind, Scope } from "./kind.ts";
import { compileKeyReader, compileMomentReader } from "./read.ts";
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
  /** When the sender removed it, in microseconds since 1970; null or undefined: unknown. */
  readonly removedAt?: number | null;
  /** Messages about parts that were left out, or are doubtful. */
  readonly warnings: FieldErrors;
  /** The same record with these doubts about its value. */
  doubted(doubts: FieldErrors): Promise<Readable<Kind>>;
  /** The same record without the parts that these errors are about, or why it cannot do without them. */
  without(errors: FieldErrors): Promise<Read<Kind>>;
}

export type Read<Kind> =
  | { readonly ok: true; readonly value: Readable<Kind> }
  | { readonly ok: false; readonly errors: FieldErrors };

/** Reads a record as far as that needs no database, and counts keys of its data that its kind does not know. */
export type ReadRecord<Kind> = (sent: SentRecord, unknownKeys: UnknownKeys) => Promise<Read<Kind>>;

/** Parsing more takes milliseconds. */
const longRecord = 256 * 1024;

/** Yields to the event loop between two steps of reading a long record. */
async function pauseIfLong({ data }: SentRecord): Promise<void> {
  if (data.length > longRecord) await setImmediate();
}

/** How often a record is read again without some more of its parts. One that is still wrong then is refused. */
export const mostRounds = 8;

/** Compiles the reader of the records of an owner. Their addresses were checked by the sender, who had to find the owner. */
export function compileRecordReader<Mentioned, Known>(
  kinds: readonly RecordKind<unknown, Mentioned, Known>[],
): ReadRecord<RecordKind<unknown, Mentioned, Known>> {
  const readers = new Map<string, ReturnType<typeof compileKind<Mentioned, Known>>>(
    kinds.map((kind) => [kind.name, compileKind(kind)]),
  );
  return async (sent, unknownKeys) => {
    const read = readers.get(sent.kind);
    if (read === undefined) return wrong("kind", explainUntaken(sent.kind));
    const data = parse(sent.data);
    await pauseIfLong(sent);
    if (data === undefined) return wrong("non_field_errors", "`data` is not JSON in UTF-8.");
    try {
      return await read(sent, data, unknownKeys);
    } catch (error) {
      if (error instanceof RangeError) return wrong("non_field_errors", "`data` is nested too deeply.");
      throw error;
    }
  };
}

function compileKind<Mentioned, Known>(kind: RecordKind<unknown, Mentioned, Known>) {
  const { name, schema, removedAtField } = kind;
  const { belongsTo, key: keyField } = recordKinds[name];
  const own = ownAddress(name);
  const readOnlyKey = keyField === null ? () => ({ ok: true, value: "" }) as const : compileKeyReader(schema, keyField);
  const readMoment = removedAtField === undefined ? undefined : compileMomentReader(schema, removedAtField);
  const countUnknown = compileUnknownKeys(name, schema);
  const toReadable = (sent: SentRecord, { draft, ...read }: ReadPart): Readable<typeof kind> => {
    const { deleted: removal, organizer, event } = sent;
    const scope = { organizer, event: belongsTo === "event" ? event : "" };
    return {
      ...{ sent, kind, scope, removal, ...read },
      warnings: draft?.named ?? {},
      async doubted(doubts) {
        return { ...this, warnings: (await draft?.namedWith(doubts)) ?? doubts };
      },
      async without(errors) {
        const rest = draft?.copy() ?? draftOf(sent);
        const again = await readWithout(sent, { draft: rest, errors });
        if (!again.ok || this.value === undefined || kind.keepFiles === undefined) return again;
        return { ok: true, value: { ...again.value, value: await kind.keepFiles(again.value.value, this.value) } };
      },
    };
  };

  const draftOf = ({ data }: SentRecord) => new Draft(schema, () => parse(data));

  /** Reads what is left of a record without its wrong parts. */
  const readWithout = async (
    sent: SentRecord,
    { draft, errors: found }: { readonly draft: Draft; readonly errors: FieldErrors },
  ): Promise<Read<typeof kind>> => {
    let errors = found;
    for (let round = 0; round < mostRounds; round += 1) {
      await pauseIfLong(sent);
      const refusing = await draft.leaveOut(errors);
      if (refusing !== undefined) return { ok: false, errors: refusing };
      await pauseIfLong(sent);
      const left = draft.data();
      await pauseIfLong(sent);
      const read = await kind.read(left, draft.leftOut, Object.keys(draft.named));
      if (read.ok) return withKey(sent, { key: kind.keyOf(read.value), value: read.value, draft });
      errors = read.errors;
    }
    return { ok: false, errors };
  };

  const withKey = (sent: SentRecord, read: ReadPart): Read<typeof kind> =>
    own !== undefined && sent[own] !== read.key
      ? { ok: false, errors: notItsOwn(own) }
      : { ok: true, value: toReadable(sent, read) };

  /** A removal without a readable moment is a removal. */
  const readRemovedAt = async (sent: SentRecord, data: unknown): Promise<Pick<ReadPart, "removedAt" | "draft">> => {
    const read = readMoment?.(data);
    if (read === undefined) return {};
    if (read.ok) return { removedAt: read.value };
    const draft = draftOf(sent);
    await draft.leaveOut(read.errors);
    return { draft };
  };

  return async (sent: SentRecord, data: unknown, unknownKeys: UnknownKeys): Promise<Read<typeof kind>> => {
    if (sent.deleted) {
      const read = (kind.readKey ?? readOnlyKey)(data);
      return read.ok
        ? withKey(sent, { key: read.value, value: undefined, ...(await readRemovedAt(sent, data)) })
        : read;
    }
    // Reading fills in defaults, which were not sent.
    countUnknown(data, unknownKeys);
    await pauseIfLong(sent);
    const read = await kind.read(data);
    if (read.ok) return withKey(sent, { key: kind.keyOf(read.value), value: read.value });
    return readWithout(sent, { draft: draftOf(sent), errors: read.errors });
  };
}

interface ReadPart {
  readonly key: string;
  readonly value: unknown;
  readonly removedAt?: number | null;
  /** Of a record that is without some parts. */
  readonly draft?: Draft;
}

function notItsOwn(own: string): Record<string, string[]> {
  return { slug: [`This is not the ${own} that the record names.`] };
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    // Without the parser's message, which quotes the text.
    return undefined;
  }
}

function wrong(field: string, message: string): { ok: false; errors: Record<string, string[]> } {
  return { ok: false, errors: { [field]: [message] } };
}
