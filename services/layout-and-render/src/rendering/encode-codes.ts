import { inSlices } from "@tessera/kit/waiting/in-slices";
import { type CodeSymbol, type EncodeSymbol, encodeSymbol } from "../domain/code-symbol.ts";
import type { BarcodeArea } from "../domain/elements/element.ts";

type Code = Pick<BarcodeArea, "symbology"> & { readonly value: string };

/** Encodes each distinct code once, and yields to the event loop between two codes. */
export async function encodeCodes(codes: Iterable<Code>): Promise<EncodeSymbol> {
  const symbols = new Map<string, CodeSymbol | undefined>();
  await inSlices(codes, ({ symbology, value }) => {
    const key = keyOf(symbology, value);
    if (!symbols.has(key)) symbols.set(key, encodeSymbol(symbology, value));
  });
  return (symbology, value) => {
    const key = keyOf(symbology, value);
    if (!symbols.has(key)) throw new Error("a code was not encoded");
    return symbols.get(key);
  };
}

function keyOf(symbology: string, value: string): string {
  return `${symbology} ${value}`;
}
