import { createHash, type Hash, hash } from "node:crypto";
import type { Layer } from "@tessera/sent-files/layers";
import { type PdfObject, type PdfText, referencesIn, renumber } from "@tessera/sent-files/pdf-objects";

/** An object whose references are numbers of the written file. */
export interface WrittenObject {
  readonly text: string;
  readonly stream?: Uint8Array;
}

export interface DocumentFacts {
  readonly title: string;
  /** A BCP 47 tag. */
  readonly language: string;
  readonly createdAt: Date;
}

const header = "%PDF-1.4\n%\xe2\xe3\xcf\xd3\n";

/** The fan-out of the page tree. */
const pagesPerNode = 64;

/** Streams from this size are deduplicated. */
const comparedFrom = 256;

/** Writes a PDF as a stream: whatever its length, memory holds only the table of objects. */
export class PdfWriter {
  readonly #facts: DocumentFacts;
  #pending: Uint8Array[] = [];
  /** Pending output, one byte per character. */
  #text = header;
  #position = header.length;
  /** By number; the first two are the catalog and the document information, which come last. */
  readonly #offsets: number[] = [0, 0, 0];
  readonly #nodes: { readonly number: number; readonly kids: number[] }[] = [];
  readonly #byContent = new Map<string, number>();
  readonly #identity: Hash = createHash("md5");
  readonly #layers: Layer[] = [];
  #version = "1.4";

  constructor(facts: DocumentFacts) {
    this.#facts = facts;
  }

  /** Reserves the number of an object that is written later. */
  reserve(): number {
    return this.#offsets.push(0) - 1;
  }

  put(number: number, { text, stream }: WrittenObject): void {
    this.#offsets[number] = this.#position;
    this.#write(`${number} 0 obj\n${text}${stream === undefined ? "" : "stream\n"}`);
    if (stream !== undefined) {
      this.#flush();
      this.#pending.push(stream);
      this.#position += stream.length;
    }
    this.#write(stream === undefined ? "\nendobj\n" : "\nendstream\nendobj\n");
  }

  add(object: WrittenObject): number {
    const number = this.reserve();
    this.put(number, object);
    return number;
  }

  /** Adds an object unless an equal one was added. */
  addOnce(object: WrittenObject): number {
    const key = contentKey(object.text, object.stream);
    const number = (key === undefined ? undefined : this.#byContent.get(key)) ?? this.add(object);
    if (key !== undefined) this.#byContent.set(key, number);
    return number;
  }

  /**
   * Adds all objects of another document that are reachable from some of them; returns their numbers here. Pictures,
   * fonts and other streams that were added before are reused.
   */
  addAll(objects: ReadonlyMap<number, PdfObject>, roots: readonly number[]): (number: number) => number {
    const numbers = new Map<number, number>();
    const reached: [number: number, object: PdfObject][] = [];
    const waiting = [...roots];
    const describe = describer(objects);
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const object = objects.get(next);
      if (numbers.has(next) || object === undefined) continue;
      const text = object.stream === undefined ? undefined : describe(object.text);
      const key = text === undefined ? undefined : contentKey(text, object.stream);
      const known = key === undefined ? undefined : this.#byContent.get(key);
      const number = known ?? this.reserve();
      numbers.set(next, number);
      if (known !== undefined) continue;
      if (key !== undefined) this.#byContent.set(key, number);
      reached.push([number, object]);
      waiting.push(...referencesIn(object.text));
    }
    // A reference to a missing object, or to number 0, means null.
    const numberOf = (number: number) => numbers.get(number) ?? 0;
    for (const [number, { text, stream }] of reached)
      this.put(number, { text: renumber(text, numberOf), ...(stream === undefined ? {} : { stream }) });
    return numberOf;
  }

  /** Adds a page; `text` has all entries but its type and its parent. */
  addPage(text: string): void {
    let node = this.#nodes.at(-1);
    if (node === undefined || node.kids.length === pagesPerNode) {
      node = { number: this.reserve(), kids: [] };
      this.#nodes.push(node);
    }
    node.kids.push(this.add({ text: `<</Type /Page /Parent ${node.number} 0 R ${text}>>` }));
  }

  /** Raises the PDF version that the file needs. */
  needVersion(version: string): void {
    if (Number(version) > Number(this.#version)) this.#version = version;
  }

  /** Notes optional content (layers) of added objects, under their old numbers. */
  addLayers(layers: readonly Layer[], numberOf: (number: number) => number): void {
    const added = layers.map((layer) => ({ ...layer, number: numberOf(layer.number) }));
    this.#layers.push(...added.filter(({ number }) => number !== 0));
    if (this.#layers.length > 0) this.needVersion("1.5");
  }

  /** Takes the bytes that are ready. */
  take(): Buffer {
    this.#flush();
    const bytes = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#identity.update(bytes);
    return bytes;
  }

  /** The remaining bytes. */
  finish(): Buffer {
    const tree = this.reserve();
    for (const { number, kids } of this.#nodes)
      this.put(number, { text: `<</Type /Pages /Parent ${tree} 0 R /Count ${kids.length} /Kids [${list(kids)}]>>` });
    const count = this.#nodes.reduce((sum, { kids }) => sum + kids.length, 0);
    this.put(tree, {
      text: `<</Type /Pages /Count ${count} /Kids [${list(this.#nodes.map(({ number }) => number))}]>>`,
    });
    const { title, language, createdAt } = this.#facts;
    this.put(1, {
      text: `<</Type /Catalog /Version /${this.#version} /Pages ${tree} 0 R /Lang ${pdfText(language)} /ViewerPreferences <</DisplayDocTitle true>>${this.#describeLayers()}>>`,
    });
    // The file identifier is a hash of the content, whatever the time.
    const content = this.take();
    const identity = this.#identity.digest("hex");
    const date = `(D:${createdAt.toISOString().replaceAll(/[-:T]/g, "").slice(0, 14)}Z)`;
    this.put(2, {
      text: `<</Title ${pdfText(title)} /Creator (Tessera) /Producer (Tessera) /CreationDate ${date} /ModDate ${date}>>`,
    });
    const start = this.#position;
    const entries = this.#offsets.map((offset, number) =>
      number === 0 ? "0000000000 65535 f \n" : `${String(offset).padStart(10, "0")} 00000 n \n`,
    );
    this.#write(
      `xref\n0 ${entries.length}\n${entries.join("")}trailer\n<</Size ${entries.length} /Root 1 0 R /Info 2 0 R /ID [<${identity}> <${identity}>]>>\nstartxref\n${start}\n%%EOF\n`,
    );
    this.#flush();
    return Buffer.concat([content, ...this.#pending]);
  }

  #describeLayers(): string {
    if (this.#layers.length === 0) return "";
    const numbers = (layers: readonly Layer[]) => list(layers.map(({ number }) => number));
    const hidden = this.#layers.filter(({ isHidden }) => isHidden);
    return ` /OCProperties <</OCGs [${numbers(this.#layers)}] /D <</Name (Layers) /OFF [${numbers(hidden)}]>>>>`;
  }

  #write(text: string): void {
    this.#text += text;
    this.#position += text.length;
  }

  #flush(): void {
    if (this.#text !== "") this.#pending.push(Buffer.from(this.#text, "latin1"));
    this.#text = "";
  }
}

/** An image refers to its colour space and its soft mask, which has a colour space, too. */
const mostReferences = 2;
const deepest = 2;

/**
 * Describes values by the contents of their references, for deduplication across documents. Undefined: there are too
 * many references, or references to objects without a stream, such as layers, which are never equal. Memoized: many
 * values may refer to one large stream.
 */
function describer(objects: ReadonlyMap<number, PdfObject>): (text: PdfText) => string | undefined {
  const known = new Map<string, string | undefined>();

  function describe(text: PdfText, depth: number): string | undefined {
    const count = referencesIn(text).length;
    if (count > mostReferences || (count > 0 && depth === 0)) return undefined;
    const pieces = text.map((piece) => (typeof piece === "string" ? piece : identify(piece, depth - 1)));
    return pieces.includes(undefined) ? undefined : pieces.join("");
  }

  function identify(number: number, depth: number): string | undefined {
    const name = `${number} ${depth}`;
    if (known.has(name)) return known.get(name);
    const { text, stream } = objects.get(number) ?? {};
    const described = text === undefined || stream === undefined ? undefined : describe(text, depth);
    const identity =
      described === undefined || stream === undefined
        ? undefined
        : `{${hash("sha256", described, "base64")} ${hash("sha256", stream, "base64")}}`;
    known.set(name, identity);
    return identity;
  }

  return (text) => describe(text, deepest);
}

function contentKey(text: string, stream: Uint8Array | undefined): string | undefined {
  if (stream === undefined || stream.length < comparedFrom) return undefined;
  return `${hash("sha256", stream, "base64")} ${text}`;
}

function list(numbers: readonly number[]): string {
  return numbers.map((number) => `${number} 0 R`).join(" ");
}

/** A text string in hexadecimal. */
function pdfText(text: string): string {
  const bytes = Buffer.from(`\ufeff${text}`, "utf16le").swap16();
  return `<${bytes.toString("hex")}>`;
}
