import { PDFArray, PDFBool, PDFDict, type PDFDocument, PDFName, PDFRef } from "@cantoo/pdf-lib";

/** A layer of a background, which readers may show or hide. */
export interface Layer {
  /** Of its object. */
  readonly number: number;
  readonly isHidden: boolean;
}

const mark = PDFName.of("TesseraHidden");

/** Marks the layers that a file hides, so that their copies can be told from others. */
export function markHiddenLayers({ catalog, context }: PDFDocument): void {
  const properties = catalog.lookup(PDFName.of("OCProperties"));
  const usual = properties instanceof PDFDict ? properties.lookup(PDFName.of("D")) : undefined;
  if (!(properties instanceof PDFDict && usual instanceof PDFDict)) return;
  const shown = new Set(referencesOf(usual, "ON"));
  const hidden =
    usual.lookup(PDFName.of("BaseState")) === PDFName.of("OFF")
      ? referencesOf(properties, "OCGs").filter((layer) => !shown.has(layer))
      : referencesOf(usual, "OFF");
  for (const layer of hidden) {
    const group = context.lookup(layer);
    if (group instanceof PDFDict) group.set(mark, PDFBool.True);
  }
}

/** Finds the layers of a file, and removes the marks. */
export function takeLayers({ context }: PDFDocument): Layer[] {
  return context.enumerateIndirectObjects().flatMap(([{ objectNumber: number }, group]) => {
    if (!(group instanceof PDFDict) || group.get(PDFName.of("Type")) !== PDFName.of("OCG")) return [];
    const isHidden = group.has(mark);
    group.delete(mark);
    return [{ number, isHidden }];
  });
}

function referencesOf(dictionary: PDFDict, key: string): PDFRef[] {
  const array = dictionary.lookup(PDFName.of(key));
  return array instanceof PDFArray ? array.asArray().filter((each) => each instanceof PDFRef) : [];
}
