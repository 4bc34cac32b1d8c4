import { readFileSync } from "node:fs";
import { deflateSync } from "node:zlib";

function read(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`./pdfs/${name}.pdf`, import.meta.url)));
}

/** Writes a PDF, and records the offsets of objects for the cross-reference tables that follow. */
class Written {
  text = "%PDF-1.7\r\n%\xb5\xb5\xb5\xb5\r\n";
  readonly offsets = new Map<number, number>();

  object(number: number, text: string): void {
    this.offsets.set(number, this.text.length);
    this.text += `${number} 0 obj\r\n${text}\r\nendobj\r\n`;
  }

  stream(number: number, { entries = "", content }: { readonly entries?: string; readonly content: Buffer }): void {
    const body = `stream\r\n${content.toString("latin1")}\r\nendstream`;
    this.object(number, `<<${entries}/Length ${content.length}>>\r\n${body}`);
  }

  /** Writes a cross-reference table of these objects, and returns its offset. */
  table(numbers: readonly number[], trailer: string): number {
    const start = this.text.length;
    const entry = (number: number) => `${String(this.offsets.get(number)).padStart(10, "0")} 00000 n\r\n`;
    const sections = numbers.map((number) => `${number} 1\r\n${entry(number)}`);
    this.text += `xref\r\n0 1\r\n0000000000 65535 f\r\n${sections.join("")}trailer\r\n<<${trailer}>>\r\n`;
    return start;
  }

  end(start: number): void {
    this.text += `startxref\r\n${start}\r\n%%EOF\r\n`;
  }

  get bytes(): Uint8Array {
    return new Uint8Array(Buffer.from(this.text, "latin1"));
  }
}

const red = deflateSync(Buffer.from("1 0 0 rg 0 0 50 30 re f"));

/** A hybrid file: the classic table for older readers, and a cross-reference stream for the rest. */
function withTwoTables(): Uint8Array {
  const pdf = new Written();
  pdf.object(1, "<</Type/Catalog/Pages 2 0 R/Lang(de) /MarkInfo<</Marked true>>/Metadata 8 0 R>>");
  pdf.object(2, "<</Type/Pages/Count 1/Kids[ 3 0 R] >>");
  pdf.object(
    3,
    "<</Type/Page/Parent 2 0 R/Resources<</ExtGState<</GS7 5 0 R>>/ProcSet[/PDF/Text] >>/MediaBox[ 0 0 100 60] /Contents 4 0 R/Group<</Type/Group/S/Transparency/CS/DeviceRGB>>/Tabs/S/StructParents 0>>",
  );
  pdf.stream(4, { entries: "/Filter/FlateDecode", content: red });
  pdf.object(5, "<</Type/ExtGState/BM/Normal/ca 1>>");
  pdf.object(6, "<</Author(\xfe\xff\x00A\x00n\x00n\x00a) /Title(Ticket \\(1\\)) >>");
  pdf.stream(8, {
    entries: "/Type/Metadata/Subtype/XML",
    content: Buffer.from("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>"),
  });
  const first = pdf.table([1, 2, 3, 4, 5, 6, 8], "/Size 10/Root 1 0 R/Info 6 0 R");
  pdf.end(first);
  const packed = Buffer.alloc(7);
  packed.writeUInt8(1, 0);
  packed.writeUInt32BE(pdf.text.length, 1);
  const stream = pdf.text.length;
  pdf.stream(9, { entries: "/Type/XRef/Size 10/W[ 1 4 2] /Index[ 9 1] /Root 1 0 R/Info 6 0 R", content: packed });
  const second = pdf.table([], `/Size 10/Root 1 0 R/Info 6 0 R/Prev ${first}/XRefStm ${stream}`);
  pdf.end(second);
  return pdf.bytes;
}

/** A page in an object stream is replaced by a rotated one in an incremental update. */
function withAppended(): Uint8Array {
  const pdf = new Written();
  pdf.object(1, "<</Type/Catalog/Pages 2 0 R>>");
  pdf.object(2, "<</Type/Pages/Count 1/Kids[3 0 R]/MediaBox[0 0 60 100]/Rotate 90/Resources<<>>>>");
  const page = "<</Type/Page/Parent 2 0 R/Contents 4 0 R>>";
  const head = `3 0 5 ${page.length} `;
  pdf.stream(7, {
    entries: `/Type/ObjStm/N 2/First ${head.length}/Filter/FlateDecode`,
    content: deflateSync(Buffer.from(`${head}${page}[/Separation]`)),
  });
  pdf.stream(4, { entries: "/Filter[/FlateDecode]", content: red });
  const rows = [
    [0, 0, 65535],
    [1, pdf.offsets.get(1), 0],
    [1, pdf.offsets.get(2), 0],
    [2, 7, 0],
    [1, pdf.offsets.get(4), 0],
  ];
  const more = [
    [2, 7, 1],
    [1, pdf.text.length, 0],
    [1, pdf.offsets.get(7), 0],
  ];
  const table = Buffer.concat(
    [...rows, ...more].map(([type = 0, at = 0, last = 0]) => Buffer.of(type, at >> 8, at & 255, last >> 8, last & 255)),
  );
  const first = pdf.text.length;
  pdf.stream(6, { entries: "/Type/XRef/Size 8/W[1 2 2]/Root 1 0 R", content: table });
  pdf.end(first);
  pdf.object(3, "<</Type/Page/Parent 2 0 R/Contents [4 0 R]/UserUnit 1.0>>");
  const second = pdf.table([3], `/Size 8/Root 1 0 R/Prev ${first}`);
  pdf.end(second);
  return pdf.bytes;
}

/** Small files of common programs. */
export const samplePdfs: Readonly<Record<string, Uint8Array>> = {
  Cairo: read("cairo"),
  Chromium: read("chromium"),
  Ghostscript: read("ghostscript"),
  "qpdf, with packed objects": read("qpdf"),
  "a word processor, with two tables": withTwoTables(),
  "an editor that appends what it changes": withAppended(),
};
