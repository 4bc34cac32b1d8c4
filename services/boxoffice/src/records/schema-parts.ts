import type { Schema } from "@tessera/kit/schema";
import { id, instant, localized, mapOf, text } from "@tessera/kit/schema-build";

/** Names inside of maps become keys of JSON documents. */
const keyNames = text({ trim: false, maxLength: 200 });

/** A map whose names anybody chose. */
export const freeMap = (values: Schema, options: { default?: unknown; nullable?: boolean } = {}): Schema =>
  mapOf(values, { maxProperties: 1000, propertyNames: keyNames, ...options });

/** A text per language. */
export const names = (options: { default?: unknown } = {}): Schema =>
  localized({ propertyNames: keyNames, ...options });

/** A text per language, or nothing. */
export const namesOrNull = (): Schema => ({ ...names(), type: ["object", "null"], default: null });

/** The parts of a person's name; a part may be missing as null. */
export const nameParts = (): Schema =>
  freeMap(text({ nullable: true, trim: false, maxLength: 1000 }), { nullable: true, default: {} });

export const idOrNull = (): Schema => id({ nullable: true, default: null });

export const instantOrNull = (): Schema => instant({ nullable: true, blank: true, default: null });

/** A line of text, or nothing. */
export const lineOrNull = (maxLength = 255): Schema => text({ nullable: true, default: null, maxLength });

/** A coordinate. */
export const degreesOrNull = (limit: number): Schema => ({
  type: ["number", "null"],
  minimum: -limit,
  maximum: limit,
  default: null,
});

/** What a text may be that stands where a text of its own schema cannot: where something else may stand, too. */
export const storableText: Schema = { pattern: "^[^\\u0000\\ud800-\\udfff]*$" };

/** What is kept to the letter: printed tickets and codes in the field depend on it. */
export const verbatim = (maxLength: number): Schema => text({ trim: false, blank: false, maxLength });
