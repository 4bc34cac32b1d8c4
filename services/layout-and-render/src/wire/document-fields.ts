import { type Instant, isObject, type Localized, parseInstant } from "@tessera/values";

/** A JSON object. Its owner has validated it; here a field of an unexpected type counts as missing. */
export type Value = Readonly<Record<string, unknown>>;

export function parseDocument(json: Uint8Array): Value {
  const value: unknown = JSON.parse(Buffer.from(json).toString());
  return isObject(value) ? value : {};
}

export function textIn(value: Value, name: string): string {
  const field = value[name];
  return typeof field === "string" ? field : "";
}

export function numberIn(value: Value, name: string): number | null {
  const field = value[name];
  return typeof field === "number" ? field : null;
}

export function instantIn(value: Value, name: string): Instant | null {
  return parseInstant(textIn(value, name)) ?? null;
}

export function objectIn(value: Value, name: string): Value | null {
  const field = value[name];
  return isObject(field) ? field : null;
}

export function listIn(value: Value, name: string): Value[] {
  const field: unknown = value[name];
  return Array.isArray(field) ? field.filter(isObject) : [];
}

/** Reads texts by name, without missing ones. */
export function textsIn(value: Value, name: string): Readonly<Record<string, string>> {
  const entries = Object.entries(objectIn(value, name) ?? {});
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

/** Reads a localized text. A plain text counts for all languages. */
export function localizedIn(value: Value, name: string): Localized | null {
  const plain = textIn(value, name);
  if (plain !== "") return { en: plain };
  return objectIn(value, name) === null ? null : textsIn(value, name);
}
