import type { Checked } from "@tessera/kit/schema";
import type { Record as SentRecord } from "@tessera/protos/gen/ticketing/records/v1/records";
import type { Scope } from "../domain/scope.ts";
import { type AnyKind, kinds, laterKinds } from "./all-kinds.ts";

/** A record that can be read; what it refers to is not looked at yet. */
export interface Readable {
  readonly sent: SentRecord;
  readonly kind: AnyKind;
  readonly scope: Scope;
  readonly key: string;
  /** Removes the entity of the key; then there is no value. */
  readonly removal: boolean;
  readonly value: unknown;
}

/** Reads a record as far as that needs no database. */
export function readRecord(sent: SentRecord): Checked<Readable> {
  const kind = kinds.get(sent.kind);
  if (kind === undefined) return wrong("kind", explainKind(sent.kind));
  const misplaced = findMisplacement(sent, kind);
  if (misplaced !== undefined) return misplaced;
  const data = parse(sent.data);
  if (data === undefined) return wrong("non_field_errors", "`data` is not JSON in UTF-8");
  try {
    return toReadable(sent, kind, data);
  } catch (error) {
    if (error instanceof RangeError) return wrong("non_field_errors", "`data` is nested too deeply");
    throw error;
  }
}

function toReadable(sent: SentRecord, kind: AnyKind, data: unknown): Checked<Readable> {
  const address = kind.addressedAs === undefined ? "" : sent[kind.addressedAs];
  const read = sent.deleted ? kind.readKey(data) : kind.read(data);
  if (!read.ok) return read;
  const key = sent.deleted ? String(read.value) : kind.keyOf(read.value);
  if (address !== "" && address !== key)
    return wrong("slug", `This is not the ${kind.addressedAs} that the record names.`);
  const organizer = kind.addressedAs === "organizer" ? key : sent.organizer;
  const scope: Scope = { organizer, event: kind.belongsTo === "event" ? sent.event : "" };
  return { ok: true, value: { sent, kind, scope, key, removal: sent.deleted, value: read.value } };
}

/** Holds a record's address against where its kind lives. */
function findMisplacement({ organizer, event }: SentRecord, kind: AnyKind): Checked<never> | undefined {
  if (organizer === "" && kind.addressedAs !== "organizer") return wrong("organizer", "This field is required.");
  if (event === "" && kind.belongsTo === "event") return wrong("event", "This field is required.");
  if (event !== "" && kind.belongsTo !== "event" && kind.addressedAs !== "event") {
    return wrong("event", "Records of this kind belong to an organizer, not to an event.");
  }
  return undefined;
}

function explainKind(kind: string): string {
  return laterKinds.has(kind)
    ? `this version does not take records of kind ${kind}`
    : "there is no such kind of record";
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    // What is wrong with it is not told: parsers quote what they read.
    return undefined;
  }
}

function wrong(field: string, message: string): { ok: false; errors: Record<string, string[]> } {
  return { ok: false, errors: { [field]: [message] } };
}
