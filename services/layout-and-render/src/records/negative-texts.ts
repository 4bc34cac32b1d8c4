import { isObject } from "@tessera/values";

/** Element fields that shops may send as texts. */
const numericFields: ReadonlySet<string> = new Set([
  "left",
  "bottom",
  "width",
  "height",
  "size",
  "fontsize",
  "lineheight",
  "rotation",
]);

/** Converts negative numbers in texts to numbers (R1.19), which the API does not accept (L2.2). */
export function convertNegativeTexts(layout: unknown): unknown {
  return Array.isArray(layout) ? layout.map(convertElement) : layout;
}

function convertElement(element: unknown): unknown {
  if (!isObject(element)) return element;
  const converted = Object.entries(element).map(([name, value]) => {
    const isNegativeText = typeof value === "string" && /^-\d+(?:\.\d+)?$/.test(value);
    return [name, numericFields.has(name) && isNegativeText ? Number(value) : value] as const;
  });
  return Object.fromEntries(converted);
}
