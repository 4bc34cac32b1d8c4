import { PDFDocument, rgb, StandardFonts } from "@cantoo/pdf-lib";
import { aPhoto } from "@tessera/testkit/sample-photo";
import { toString as drawQr } from "qrcode";
import { orderOf, recordOf } from "./records.ts";

/** A background as an organizer would draw it: many curves, a picture and words. */
export async function drawBackground(): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const page = document.addPage([595.276, 841.89]);
  const font = await document.embedFont(StandardFonts.HelveticaBold);
  for (let index = 0; index < 120; index += 1) {
    const color = rgb(0.9 - (index % 5) * 0.1, 0.6 + (index % 4) * 0.1, 0.8);
    page.drawEllipse({
      x: (index * 97) % 595,
      y: 60 + ((index * 53) % 700),
      xScale: 20 + (index % 30),
      yScale: 12 + (index % 22),
      color,
      opacity: 0.2,
    });
  }
  const photo = await document.embedJpg(new Uint8Array(aPhoto({ width: 900, height: 500, seed: 3 })));
  page.drawImage(photo, { x: 40, y: 90, width: 515, height: 290 });
  page.drawText("FESTIVAL", { x: 40, y: 790, size: 40, font, color: rgb(0.3, 0.1, 0.3) });
  return document.save();
}

const names = ["Žofie Ångström", "Jürgen Müller-Lüdenscheidt", "Ελένη Παπαδοπούλου", "Наталья Кузнецова", "Ana Núñez"];

type Box = readonly [left: number, bottom: number, width: number, height: number];
type Look = { readonly fontSize?: number; readonly bold?: boolean; readonly italic?: boolean };

/** The texts of a ticket: what each shows, where, and how. */
const texts: readonly (readonly [content: string, box: Box, look: Look])[] = [
  ["event_name", [16, 272, 110, 12], { fontSize: 16, bold: true }],
  ["itemvar", [16, 261, 110, 8], {}],
  ["attendee_name", [16, 251, 110, 8], { bold: true }],
  ["event_begin", [16, 241, 110, 8], { italic: true }],
  ["seat", [16, 231, 110, 8], {}],
  ["event_location", [16, 210, 80, 20], {}],
  ["order", [16, 193, 32, 8], {}],
  ["price", [51, 193, 47, 8], {}],
];
const code = { type: "barcodearea", left: 130, bottom: 205, size: 64, content: "secret" } as const;
const picture = {
  type: "imagearea",
  left: 100,
  bottom: 190,
  width: 26,
  height: 20,
  content: "question_PHOTO",
} as const;

function secretOf(index: number): string {
  return (index * 7919 + 1_000_003).toString(36).padStart(8, "x").repeat(4).slice(0, 32);
}

/** The pages of so many tickets as one plain document, each with eight texts, a code and a picture. */
export async function drawPlainPages(count: number): Promise<string> {
  const pages = Array.from({ length: count }, (_, number) => drawPlainPage(number));
  const style = `@page { size: A4; margin: 0 } body { margin: 0; font: 13pt sans-serif }
    section { position: relative; width: 210mm; height: 297mm; break-after: page; overflow: hidden }
    section > * { position: absolute } svg { width: 100%; height: 100% }`;
  return `<!doctype html><style>${style}</style>${(await Promise.all(pages)).join("")}`;
}

async function drawPlainPage(number: number): Promise<string> {
  const values = [
    "Rosengarten Festspiele 2027 – Sommernacht im Park",
    number % 2 === 0 ? "Parkett links - Ermäßigt" : "Rang Mitte",
    `${names[number % names.length]} ${number}`,
    "1. Juli 2027, 20:00 Uhr",
    `Reihe ${number % 40}, Platz ${number % 60}`,
    "Altes Pumpwerk, Piepmarkter Straße 12, 28217 Bremen, Einlass ab 19 Uhr am Seiteneingang",
    `A${number.toString(36).toUpperCase()}`,
    "1.234,50 €",
  ];
  const drawn = texts.map(([, box, { fontSize = 13, bold = false, italic = false }], at) => {
    const font = `${italic ? "italic" : "normal"} ${bold ? "bold" : "normal"} ${fontSize}pt sans-serif`;
    return `<div style="${placeOf(box)};font:${font}">${values[at]}</div>`;
  });
  const symbol = await drawQr(secretOf(number), { type: "svg", errorCorrectionLevel: "H" });
  const codeBox = placeOf([code.left, code.bottom, code.size, code.size]);
  const pictureBox = placeOf([picture.left, picture.bottom, picture.width, picture.height]);
  const photo = `<img alt="" src="${dataUrl("image/jpeg", photoOf(number))}" style="${pictureBox}">`;
  return `<section>${drawn.join("")}<div style="${codeBox}">${symbol}</div>${photo}</section>`;
}

const placeOf = ([left, bottom, width, height]: Box) =>
  `left:${left}mm;bottom:${bottom}mm;width:${width}mm;height:${height}mm`;

/** Ten pictures for all tickets. */
const photos = Array.from({ length: 10 }, (_, seed) => aPhoto({ seed }));

const photoOf = (number: number) => photos[number % photos.length] ?? aPhoto();

const dataUrl = (type: string, bytes: Uint8Array) => `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;

/** The same layout, with the quota and the question that it needs, as records. */
export function layoutRecords(background: Uint8Array): string[] {
  const elements = texts.map(([content, [left, bottom, width, height], { fontSize = 13, ...look }]) => ({
    ...{ type: "textcontainer", page: 1, left, bottom, width, height, content, fontsize: fontSize },
    ...{ fontfamily: "Open Sans", bold: false, italic: false, align: "left", verticalalign: "top" },
    ...{ color: [20, 20, 20], lineheight: 1, autoresize: true, splitlongwords: true, ...look },
  }));
  return [
    recordOf("quota", { id: 1, name: "All", size: null, items: [1], variations: [] }),
    recordOf("question", { id: 1, question: { en: "Photo" }, type: "F", identifier: "PHOTO", items: [1] }),
    recordOf("ticket_layout", {
      ...{ id: 1, name: "Bench", default: true, layout: [...elements, code, picture] },
      background: dataUrl("application/pdf", background),
    }),
  ];
}

/** A ticket for the layout as a record. */
export function orderWithPhoto(number: number): string {
  return orderOf(number, {
    order: { locale: "de", total: "1234.50" },
    position: {
      ...{ price: "1234.50", attendee_name: `${names[number % names.length]} ${number}`, secret: secretOf(number) },
      attendee_name_parts: { full_name: `${names[number % names.length]} ${number}` },
      seat: { seat_guid: `seat-${number}`, name: `Row ${number % 40}, seat ${number}` },
      answers: [{ question: 1, answer: dataUrl("image/jpeg", photoOf(number)) }],
    },
  });
}
