import {
  PDFArray,
  type PDFContext,
  PDFDict,
  PDFInvalidObject,
  PDFName,
  PDFNumber,
  type PDFObject,
  PDFRawStream,
  PDFRef,
  PDFStream,
} from "@cantoo/pdf-lib";

/** A value of PDF as it is written, in letters that are bytes, and between them the numbers of the objects it refers to. */
export type PdfText = readonly (string | number)[];

/** An object of a PDF, with the bytes of its stream as they are, compressed or not. */
export interface PdfObject {
  readonly text: PdfText;
  readonly stream?: Uint8Array;
}

/** Writes a value. */
export function textOf(root: PDFObject): PdfText {
  const pieces: (string | number)[] = [];
  let text = "";
  const write = (value: PDFObject): void => {
    if (value instanceof PDFRef) {
      pieces.push(text, value.objectNumber);
      text = "";
    } else if (value instanceof PDFArray) {
      text += "[";
      for (const [index, each] of value.asArray().entries()) {
        if (index > 0) text += " ";
        write(each);
      }
      text += "]";
    } else if (value instanceof PDFDict) {
      text += "<<";
      for (const [name, each] of value.entries()) {
        text += `${name.toString()} `;
        write(each);
      }
      text += ">>";
    } else {
      text += value.toString();
    }
  };
  write(root);
  return text === "" ? pieces : [...pieces, text];
}

/** Writes a value with other numbers of objects. */
export function renumber(text: PdfText, numberOf: (number: number) => number): string {
  return text.map((piece) => (typeof piece === "number" ? `${numberOf(piece)} 0 R` : piece)).join("");
}

/** What an object refers to. */
export function referencesOf(object: PDFObject): PDFRef[] {
  const references: PDFRef[] = [];
  const pending = [object];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (value instanceof PDFRef) references.push(value);
    else if (value instanceof PDFArray) pending.push(...value.asArray());
    else if (value instanceof PDFStream) pending.push(value.dict);
    else if (value instanceof PDFDict) pending.push(...value.values());
  }
  return references;
}

/** The numbers of the objects that a value refers to. */
export function referencesIn(text: PdfText): number[] {
  return text.filter((piece) => typeof piece === "number");
}

/** All objects of a document. */
export function objectsOf(context: PDFContext): Map<number, PdfObject> {
  return new Map(
    context.enumerateIndirectObjects().map(([{ objectNumber }, object]) => [objectNumber, writeObject(object)]),
  );
}

function writeObject(object: PDFObject): PdfObject {
  if (object instanceof PDFInvalidObject) throw new Error("an object cannot be read");
  if (!(object instanceof PDFStream)) return { text: textOf(object) };
  if (!(object instanceof PDFRawStream)) throw new Error("a stream is not written yet");
  const stream = object.asUint8Array();
  object.dict.set(PDFName.of("Length"), PDFNumber.of(stream.length));
  return { text: textOf(object.dict), stream };
}
