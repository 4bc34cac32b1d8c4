import { isObject } from "@tessera/values";

/** Fields of elements that shops may send as texts. */
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

/** Makes numbers of negative numbers that are texts (R1.19), which a layout of the API does not take (L2.2). */
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
