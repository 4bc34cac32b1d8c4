import { PDFDocument, rgb, StandardFonts } from "@cantoo/pdf-lib";
import type { ResolvedElement } from "@tessera/layout-and-render/domain/elements/resolved-element";
import type { BackgroundFile, ReadImages, Ticket } from "@tessera/layout-and-render/rendering/printed-ticket";
import { aPhoto } from "@tessera/testkit/sample-photo";
import { orderOf, recordOf } from "./records.ts";

/** A background as an organizer would draw it: many curves, a picture and words. */
export async function drawBackground(): Promise<BackgroundFile & { readonly bytes: Uint8Array }> {
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
  return { id: "bench", bytes: await document.save() };
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

/** A ticket with eight texts, a code and a picture. */
export function makeTicket(index: number, background: BackgroundFile): Ticket {
  const values = [
    "Rosengarten Festspiele 2027 – Sommernacht im Park",
    index % 2 === 0 ? "Parkett links - Ermäßigt" : "Rang Mitte",
    `${names[index % names.length]} ${index}`,
    "1. Juli 2027, 20:00 Uhr",
    `Reihe ${index % 40}, Platz ${index % 60}`,
    "Altes Pumpwerk, Piepmarkter Straße 12, 28217 Bremen, Einlass ab 19 Uhr am Seiteneingang",
    `A${index.toString(36).toUpperCase()}`,
    "1.234,50 €",
  ];
  const elements = texts.map(
    ([, [left, bottom, width, height], look], at): ResolvedElement => ({
      ...{ type: "textcontainer", page: 1, left, bottom, width, height, content: "other", value: values[at] ?? "" },
      ...{ language: "de", fontSize: 13, fontFamily: "Open Sans", bold: false, italic: false, align: "left" },
      ...{ verticalAlign: "top", color: [20, 20, 20], lineHeight: 1, rotation: 0, isAutoresized: true },
      ...{ splitsLongWords: true, ...look },
    }),
  );
  return {
    background,
    elements: [
      ...elements,
      { ...code, symbology: "qr", page: 1, value: secretOf(index), hasQuietZone: true, color: [0, 0, 0] },
      { ...picture, page: 1, image: { position: index % photos.length, question: 1 } },
    ],
  };
}

/** Ten pictures for all tickets. */
const photos = Array.from({ length: 10 }, (_, seed) => aPhoto({ seed }));

export const readImages: ReadImages = async (images) =>
  images.map(({ position }) => ({ type: "image/jpeg", bytes: photos[position] ?? aPhoto() }));

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
      answers: [{ question: 1, answer: dataUrl("image/jpeg", photos[number % photos.length] ?? aPhoto()) }],
    },
  });
}
