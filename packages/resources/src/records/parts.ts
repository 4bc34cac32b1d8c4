import { arrayOf, boolean, decimal, field, id, instant, localized, mapOf, plain, text } from "@tessera/schema/build";
import type { Schema } from "@tessera/schema/schema";

/** Names inside of maps become keys of JSON documents. */
export const keyNames = text({ trim: false, maxLength: 200 });

/** A map with any names. */
export const freeMap = <S extends Schema>(values: S) =>
  mapOf(values, { maxProperties: 1000, propertyNames: keyNames, default: {} });

/** A text per language. */
export const names = () => localized({ propertyNames: keyNames, default: {} });

/** A text per language, or nothing. */
export const namesOrNull = () => localized({ propertyNames: keyNames, nullable: true, default: null });

/** The parts of a person's name; a part may be missing as null. */
export const nameParts = () =>
  mapOf(text({ nullable: true, trim: false, maxLength: 1000 }), {
    maxProperties: 1000,
    propertyNames: keyNames,
    nullable: true,
    default: {},
  });

export const idOrNull = () => id({ nullable: true, default: null });

export const instantOrNull = () => instant({ nullable: true, blank: true, default: null });

/** A time that a record leaves out: it lies before every known time. */
export const longAgo = { default: "1970-01-01T00:00:00Z" } as const;

/** A line of text, or nothing. */
export const lineOrNull = (maxLength = 255) => text({ nullable: true, default: null, maxLength });

/** A tax rate in percent. */
export const taxRate = () => decimal({ default: "0.00", digits: 7, places: 4, shown: 2 });

/** The sales channels of what is for sale. */
export const soldThrough = () => ({
  all_sales_channels: field(
    boolean({ default: true }),
    "Sold through every sales channel; `limit_sales_channels` is ignored then.",
  ),
  limit_sales_channels: field(
    arrayOf(text({ maxLength: 190 }), { default: [], maxItems: 1000 }),
    "Identifiers of the sales channels that sell it.",
    ["web"],
  ),
});

/** A coordinate. */
export const degreesOrNull = (limit: number) =>
  plain(["number", "null"], { minimum: -limit, maximum: limit, default: null });

/** The pattern of texts in a place that allows other types as well, where `text` does not apply. */
export const storableText = { pattern: "^[^\\u0000\\ud800-\\udfff]*$" } as const;

/** Kept exactly as sent: printed tickets and codes in use depend on it. */
export const verbatim = (maxLength: number) => text({ trim: false, blank: false, maxLength });
