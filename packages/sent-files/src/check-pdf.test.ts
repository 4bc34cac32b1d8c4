import { deflateSync } from "node:zlib";
import { PDFDocument } from "@cantoo/pdf-lib";
import { describe, expect, it } from "vitest";
import { checkPdf } from "./check-pdf.ts";
import { flattenPdf } from "./flatten-pdf.ts";
import { aPdf } from "./testing/sample-files.ts";

const broken = "The PDF is broken.";

async function objectionTo(bytes: Uint8Array): Promise<string | undefined> {
  const examined = await checkPdf(bytes);
  return examined.ok ? undefined : examined.objection;
}

/** A stream as an object of its own. */
function stream(number: number, dict: string, content: Buffer): string {
  return `${number} 0 obj << ${dict} /Length ${content.length} >> stream\n${content.toString("latin1")}\nendstream endobj`;
}

/** Objects packed into one compressed stream. */
function packed(number: number, objects: Readonly<Record<number, string>>, type = "/Type /ObjStm"): string {
  const texts = Object.values(objects);
  const offsets = texts.map((_, index) => texts.slice(0, index).join(" ").length + (index === 0 ? 0 : 1));
  const head = `${Object.keys(objects)
    .map((key, index) => `${key} ${offsets[index]}`)
    .join(" ")} `;
  const content = deflateSync(Buffer.from(head + texts.join(" "), "latin1"));
  return stream(number, `${type} /N ${texts.length} /First ${head.length} /Filter /FlateDecode`, content);
}

const script = "<< /S /JavaScript /JS (app.alert\\(1\\)) >>";

describe("a PDF that is only read", () => {
  it.each([true, false])("is accepted as the library writes it (object streams: %j)", async (useObjectStreams) => {
    const document = await PDFDocument.create();
    for (let page = 0; page < 100; page += 1) document.addPage().drawText(`page ${page}`);
    expect(await objectionTo(await document.save({ useObjectStreams }))).toBeUndefined();
    document.addPage();
    expect(await objectionTo(await document.save({ useObjectStreams }))).toMatch("more than 100 pages");
  });

  it.each([
    ["plain", {}],
    ["opening at its first page", { catalog: "/OpenAction [10 0 R /XYZ null null 0]" }],
    ["opening by going to a page", { catalog: "/OpenAction << /S /GoTo /D [10 0 R /Fit] >>" }],
    ["with a link", { page: "/Annots [<< /Subtype /Link /A << /S /URI /URI (https://example.com) >> >>]" }],
    ["with a link to a mail address", { page: "/Annots [<< /A << /S /URI /URI (mailto:a@example.com) >> >>]" }],
    ["with a link that names no scheme", { page: "/Annots [<< /A << /S /URI /URI (www.example.com/a:b) >> >>]" }],
    ["with an annotation that is printed", { page: "/Annots [<< /Subtype /Stamp /F 4 >>]" }],
    ["with a field that is empty", { page: "/Annots [<< /Subtype /Widget /FT /Tx /F 4 /Rect [0 0 9 9] >>]" }],
    ["with a note that is not printed", { page: "/Annots [<< /Subtype /FreeText /Rect [0 0 9 9] >>]" }],
    ["with a comment", { page: "/Annots [<< /Subtype /Text /F 4 /Rect [0 0 9 9] >>]" }],
    ["with a blend mode called Screen", { objects: "40 0 obj << /Type /ExtGState /BM /Screen >> endobj" }],
    ["with articles", { objects: "40 0 obj << /Type /Thread /F 41 0 R >> endobj 41 0 obj << /Type /Bead >> endobj" }],
    ["with a font that has a short name", { page: "/Resources << /Font << /JS1 << /BaseFont /Helvetica >> >> >>" }],
    ["with a page named by its other corners", { page: "/MediaBox [595 842 0 0]" }],
    ["with packed objects", { objects: packed(50, { 51: "<< /A 1 >>", 52: "[1 2]" }) }],
    ["that was changed later", { objects: "10 0 obj << /Type /Page /Parent 2 0 R /Rotate 90 >> endobj" }],
  ])("is accepted: %s", async (_name, parts) => {
    expect(await objectionTo(aPdf(parts))).toBeUndefined();
  });
});

describe("a PDF whose annotations do not say how they look", () => {
  it.each([
    ["a text box", "/Subtype /FreeText /Contents (VIP)"],
    ["a stamp", "/Subtype /Stamp /Name /Approved"],
    ["a field", "/Subtype /Widget /FT /Tx /V (VIP)"],
    ["a field that has its value from another", "/Subtype /Widget /Parent << /FT /Ch /V (VIP) >>"],
  ])("[L33.13] is refused: %s", async (_name, annotation) => {
    const page = `/Annots [<< /F 4 /Rect [0 0 9 9] ${annotation} >>]`;
    expect(await objectionTo(aPdf({ page }))).toMatch(/does not say how that looks. Print it as a PDF/);
  });
});

describe("[L33.12] a PDF with many stamps", () => {
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
  const stamp = (more: string) => `<< /Subtype /Stamp /F 4 /Rect [0 0 9 9] /AP << /N 40 0 R >> ${more} >>`;
  const appearance = (content: string) =>
    `40 0 obj << /BBox [0 0 9 9] /Length ${content.length} >> stream\n${content}\nendstream endobj`;

  it("is refused where one of them is copied for each of many layers", async () => {
    const layers = numbers(80).map((index) => `${50 + index} 0 obj << /Type /OCG /Name (L) >> endobj`);
    const page = `/Annots [${numbers(80)
      .map((index) => stamp(`/OC ${50 + index} 0 R`))
      .join(" ")}]`;
    const objects = [appearance(`%${" ".repeat(1024 * 1024)}`), ...layers].join("\n");
    expect(await objectionTo(aPdf({ page, objects }))).toMatch(/too complex/);
  });

  it("has once what all of them use", async () => {
    const shared = `/Resources << /Properties << /Large << /Text (${"x".repeat(100_000)}) >> >> >>`;
    const inline = numbers(60).map(() => stamp("/OC << /A 1 >>"));
    const bytes = aPdf({ page: `${shared} /Annots [${inline.join(" ")}]`, objects: appearance("0 g 0 0 9 9 re f") });
    expect(await objectionTo(bytes)).toBeUndefined();
    const { size } = await flattenPdf(new Uint8Array(bytes));
    expect(size).toBeLessThan(3 * bytes.length);
  });
});

describe("an active PDF", () => {
  it.each([
    ["a script that runs at once", { catalog: `/OpenAction ${script}` }, "JavaScript"],
    [
      "a script behind a reference",
      { catalog: "/OpenAction 40 0 R", objects: `40 0 obj ${script} endobj` },
      "JavaScript",
    ],
    ["named scripts", { catalog: `/Names << /JavaScript << /Names [(a) ${script}] >> >>` }, "JavaScript"],
    ["a script deep inside", { page: `/Annots [[[<< /X [<< /A << /S /X /JS (x) >> >>] >>]]]` }, "JavaScript"],
    ["a script with a name in numbers", { objects: "40 0 obj << /S /Java#53cript >> endobj" }, "JavaScript"],
    ["a script in packed objects", { objects: packed(50, { 51: script }) }, "JavaScript"],
    [
      "a script in packed objects that others took the place of",
      { objects: `${packed(50, { 51: script })}\n51 0 obj null endobj` },
      "JavaScript",
    ],
    [
      "a script in a comment, where other readers may be sent",
      { objects: `% 40 0 obj ${script} endobj` },
      "JavaScript",
    ],
    [
      "a script in the content of a stream",
      { objects: stream(40, "", Buffer.from(`41 0 obj ${script} endobj`)) },
      "JavaScript",
    ],
    ["a program to start", { page: "/Annots [<< /A << /S /Launch /F (cmd.exe) >> >>]" }, "starts programs"],
    ["an embedded file", { catalog: "/Names << /EmbeddedFiles << /Names [] >> >>" }, "embedded file"],
    ["an embedded file of a stream", { objects: stream(40, "/Type /EmbeddedFile", Buffer.from("x")) }, "embedded file"],
    ["a file of an annotation", { page: "/Annots [<< /FS << /EF << >> >> >>]" }, "embedded file"],
    ["rich media", { page: "/Annots [<< /Subtype /RichMedia >>]" }, "video"],
    ["a film", { page: "/Annots [<< /Subtype /Movie >>]" }, "video"],
    [
      "a sound behind a reference",
      { page: "/AP 40 0 R", objects: "40 0 obj << /A << /S /So#75nd >> >> endobj" },
      "video",
    ],
    ["a screen", { page: "/Annots [<< /Subtype /Screen >>]" }, "video"],
    [
      "a screen behind a reference",
      { page: "/Annots [<< /Subtype 40 0 R >>]", objects: "40 0 obj /Screen endobj" },
      "video",
    ],
    ["a screen where this reader does not look", { objects: "% << /Subtype%\r\n/#53creen >>" }, "video"],
    ["a 3D model", { page: "/Annots [<< /Subtype /3#44 >>]" }, "video"],
    ["a view of a 3D model", { page: "/Annots [<< /A << /S /GoTo3DView >> >>]" }, "video"],
    [
      "an action that opens another file",
      { page: "/Annots [<< /A << /S /GoToR /F (\\\\\\\\evil\\\\share) /D [0 /Fit] >> >>]" },
      "another file",
    ],
    [
      "an action that opens an embedded file",
      { page: "/Annots [<< /A << /S /Go#54oE /T << >> >> >>]" },
      "another file",
    ],
    [
      "an action that goes elsewhere in packed objects",
      { objects: packed(50, { 51: "<< /S /GoToR >>" }) },
      "another file",
    ],
    ["an article of another file", { page: "/Annots [<< /A << /S /Thread /D 0 >> >>]" }, "another file"],
    [
      "a page of another file",
      { objects: "40 0 obj << /Ref << /Page 0 /F << /UF (x.pdf) >> >> >> endobj" },
      "another file",
    ],
    ["a path for one system", { objects: "40 0 obj << /Type /Filespec /Unix <2f78> >> endobj" }, "another file"],
    ["content that stands in another file", { objects: stream(40, "/F (x.bin)", Buffer.from("x")) }, "another file"],
    [
      "content in another file, by reference",
      { objects: `41 0 obj (x.bin) endobj ${stream(40, "/#46 41 0 R", Buffer.from("x"))}` },
      "another file",
    ],
    [
      "a link that runs a script",
      { page: "/Annots [<< /A << /S /URI /URI (java\\163cript:alert\\(1\\)) >> >>]" },
      "leads elsewhere",
    ],
    [
      "a link in hexadecimal that runs a script",
      { page: `/Annots [<< /A << /S /URI /URI <${Buffer.from("\tJava\nScript:x").toString("hex")}> >> >>]` },
      "leads elsewhere",
    ],
    [
      "a link that runs a script where this reader does not look",
      { objects: "% << /URI (javascript:x) >>" },
      "JavaScript",
    ],
    [
      "a link to a file server",
      { page: "/Annots [<< /A << /S /URI /URI (\\\\\\\\evil\\\\share) >> >>]" },
      "leads elsewhere",
    ],
    [
      "a link to a local file",
      { page: "/Annots [<< /A << /S /URI /URI (file:///etc/passwd) >> >>]" },
      "leads elsewhere",
    ],
    [
      "a link to a local file behind the mark of an encoding",
      { page: `/Annots [<< /A << /S /URI /URI <${Buffer.from("\ufefffile:///etc/passwd").toString("hex")}> >> >>]` },
      "leads elsewhere",
    ],
    ["links that begin with a script", { catalog: "/URI << /Base (javascript:x) >>" }, "leads elsewhere"],
    ["an XFA form", { catalog: "/AcroForm << /XFA 40 0 R >>" }, "XFA"],
    ["actions of a page", { page: "/AA << /O << /S /URI /URI (https://example.com) >> >>" }, "run by themselves"],
    ["a form that is sent", { page: "/Annots [<< /A << /S /SubmitForm >> >>]" }, "sends data"],
    [
      "an address that is opened at once",
      { catalog: "/OpenAction << /S /URI /URI (https://example.com) >>" },
      "runs when",
    ],
    [
      "an address that is opened after a page is shown",
      { catalog: "/OpenAction << /S /GoTo /D [10 0 R /Fit] /Next << /S /URI /URI (https://example.com) >> >>" },
      "runs when",
    ],
  ])("is refused: %s", async (_name, parts, message) => {
    expect(await objectionTo(aPdf(parts))).toMatch(message);
  });

  it("is refused as the library writes it", async () => {
    for (const useObjectStreams of [true, false]) {
      const scripted = await PDFDocument.create();
      scripted.addPage();
      scripted.addJavaScript("hello", "app.alert(1)");
      expect(await objectionTo(await scripted.save({ useObjectStreams }))).toMatch("JavaScript");
      const carrying = await PDFDocument.create();
      carrying.addPage();
      await carrying.attach(Buffer.from("MZ"), "setup.exe");
      expect(await objectionTo(await carrying.save({ useObjectStreams }))).toMatch("embedded file");
    }
  });
});

describe("a PDF that hides objects", () => {
  it.each([
    [
      "packed objects in the content of another stream",
      { objects: stream(40, "", Buffer.from(packed(50, { 51: "1" }), "latin1")) },
    ],
    ["packed objects under another type", { objects: packed(50, { 51: script }, "/Type /XObject") }],
    ["packed objects without a type", { objects: packed(50, { 51: script }, "") }],
  ])("is refused: %s", async (_name, parts) => {
    expect(await objectionTo(aPdf(parts))).toMatch(broken);
  });
});

describe("a PDF that cannot be read", () => {
  it("is refused when it is encrypted", async () => {
    const document = await PDFDocument.create();
    document.addPage();
    document.encrypt({ userPassword: "secret", ownerPassword: "secret" });
    expect(await objectionTo(await document.save())).toMatch("encrypted");
    expect(await objectionTo(aPdf({ trailer: "/Encrypt << /Filter /Standard >>" }))).toMatch("encrypted");
    expect(await objectionTo(aPdf({ trailer: "/Encrypt 99 0 R" }))).toMatch("encrypted");
  });

  it.each([
    ["nothing", Buffer.alloc(0), "not a PDF"],
    ["something else", Buffer.from("GIF89a"), "not a PDF"],
    ["its mark alone", Buffer.from("%PDF-1.7\n"), broken],
    ["no page", aPdf({ pages: 0 }), broken],
    ["a page that cannot be seen", aPdf({ page: "/MediaBox [0 0 0 0]" }), broken],
    ["its first half", aPdf().subarray(0, 150), broken],
    ["an object that does not end", aPdf({ objects: "40 0 obj << /A" }), broken],
    [
      "a tree of pages that leads to itself",
      aPdf({ objects: "2 0 obj << /Type /Pages /Count 1 /Kids [2 0 R] >> endobj" }),
      broken,
    ],
    ["endless nesting", aPdf({ objects: `40 0 obj ${"[".repeat(200_000)}` }), broken],
  ])("is refused: %s", async (_name, bytes, message) => {
    expect(await objectionTo(bytes)).toMatch(message);
  });

  it("[S4.8] is refused when some kilobytes expand to gigabytes", async () => {
    const bomb = deflateSync(Buffer.alloc(100 * 1024 * 1024, "1 "));
    const dict = "/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode";
    const bytes = aPdf({ objects: stream(50, dict, bomb) });
    const before = process.memoryUsage().arrayBuffers;
    expect(await objectionTo(bytes)).toMatch("too complex");
    // A buffer that grows is copied to one of twice its size: up to 32 MiB are 64 MiB until memory is collected.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(65 * 1024 * 1024);
    // The next one is not to pay for it.
    expect(await objectionTo(aPdf())).toBeUndefined();
  });

  it("[S4.8] is refused when its pages name one plain content many times", async () => {
    const content = stream(40, "", Buffer.alloc(1024 * 1024, " "));
    const named = (times: number) => aPdf({ page: `/Contents [${"40 0 R ".repeat(times)}]`, objects: content });
    expect(await objectionTo(named(2))).toBeUndefined();
    const before = process.memoryUsage().arrayBuffers;
    expect(await objectionTo(named(200))).toMatch("too complex");
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(65 * 1024 * 1024);
  });

  it("[S4.8] is refused when what is written of it has more bytes than a file may have", async () => {
    // Each byte of this name is written as three letters.
    const bytes = aPdf({ catalog: `/Name /${"\x80".repeat(20_000)}` });
    expect(await checkPdf(bytes, { most: 60_000 })).toMatchObject({
      ok: false,
      objection: expect.stringContaining("too complex"),
    });
    expect(await checkPdf(bytes)).toMatchObject({ ok: true });
  });
});
