import { PDFDocument, rgb, StandardFonts } from "@cantoo/pdf-lib";
import type { ResolvedElement } from "@tessera/layout-and-render/domain/elements/resolved-element";
import type { BackgroundFile, ImageFile, Ticket } from "@tessera/layout-and-render/rendering/ticket";
import { aPhoto } from "@tessera/testkit/sample-photo";

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

function text(
  value: string,
  [left, bottom, width, height]: readonly [number, number, number, number],
  look: { readonly fontSize?: number; readonly bold?: boolean; readonly italic?: boolean } = {},
): ResolvedElement {
  return {
    type: "textcontainer",
    page: 1,
    left,
    bottom,
    width,
    height,
    content: "other",
    value,
    language: "de",
    fontSize: 13,
    fontFamily: "Open Sans",
    bold: false,
    italic: false,
    align: "left",
    verticalAlign: "top",
    color: [20, 20, 20],
    lineHeight: 1,
    rotation: 0,
    isAutoresized: true,
    splitsLongWords: true,
    ...look,
  };
}

/** A ticket with eight texts, a code and a picture. */
export function makeTicket(index: number, background: BackgroundFile): Ticket {
  const secret = (index * 7919 + 1_000_003).toString(36).padStart(8, "x").repeat(4).slice(0, 32);
  return {
    background,
    elements: [
      text("Rosengarten Festspiele 2027 – Sommernacht im Park", [16, 272, 110, 12], { fontSize: 16, bold: true }),
      text(index % 2 === 0 ? "Parkett links - Ermäßigt" : "Rang Mitte", [16, 261, 110, 8]),
      text(`${names[index % names.length]} ${index}`, [16, 251, 110, 8], { bold: true }),
      text("1. Juli 2027, 20:00 Uhr", [16, 241, 110, 8], { italic: true }),
      text(`Reihe ${index % 40}, Platz ${index % 60}`, [16, 231, 110, 8]),
      text(
        "Altes Pumpwerk, Piepmarkter Straße 12, 28217 Bremen, Einlass ab 19 Uhr am Seiteneingang",
        [16, 210, 80, 20],
      ),
      text(`A${index.toString(36).toUpperCase()}`, [16, 193, 32, 8]),
      text("1.234,50 €", [51, 193, 47, 8]),
      {
        type: "barcodearea",
        symbology: "qr",
        page: 1,
        left: 130,
        bottom: 205,
        size: 64,
        content: "secret",
        value: secret,
        hasQuietZone: true,
        color: [0, 0, 0],
      },
      {
        type: "imagearea",
        page: 1,
        left: 100,
        bottom: 190,
        width: 26,
        height: 20,
        content: "question_PHOTO",
        image: { position: index % 10, question: 1 },
      },
    ],
  };
}

/** Ten pictures for all tickets. */
export function makePhotos(): (images: readonly { readonly position: number }[]) => Promise<readonly ImageFile[]> {
  const photos = Array.from({ length: 10 }, (_, seed): ImageFile => ({ type: "image/jpeg", bytes: aPhoto({ seed }) }));
  return async (images) => images.map(({ position }) => photos[position] ?? { type: "image/jpeg", bytes: aPhoto() });
}
