import { PDFDocument } from "@cantoo/pdf-lib";
import { pointsPerMm } from "../domain/drawing/page-units.ts";
import { arc, at, type Color, type Point, paint } from "./paths.ts";

const [pageWidth, pageHeight] = [210, 297];

const card = { left: 12, bottom: 186, width: 186, height: 101 };
const corner = 4;
/** The perforation of the stub. */
const perforation = 128;
const notch = 3;

const paper: Color = [251, 247, 242];
const edge: Color = [228, 216, 203];
const dots: Color = [205, 188, 170];
const clays: readonly Color[] = [
  [190, 82, 42],
  [214, 126, 78],
  [232, 170, 126],
  [146, 64, 38],
  [243, 213, 184],
  [15, 118, 110],
];

/**
 * Draws the built-in background: A4, a card with a mosaic along its edge, a stub for the code, and no text, because the
 * page serves all languages.
 */
export async function drawDefaultBackground(): Promise<Uint8Array> {
  const document = await PDFDocument.create({ updateMetadata: false });
  const page = document.addPage([pageWidth * pointsPerMm, pageHeight * pointsPerMm]);
  const content = document.context.flateStream(
    `q ${pointsPerMm} 0 0 ${pointsPerMm} 0 0 cm\n${drawCard()}${drawMosaic()}${drawStub()}${drawLines()}${drawFold()}Q\n`,
  );
  page.node.addContentStream(document.context.register(content));
  return document.save({ useObjectStreams: false });
}

function drawCard(): string {
  const outline = cardOutline();
  return `${paint(paper)} rg\n${outline}f\n${paint(edge)} RG\n0.25 w\n${outline}S\n`;
}

/** A rectangle with round corners, and a notch above and below the perforation. */
function cardOutline(): string {
  const { left, bottom, width, height } = card;
  const [right, top] = [left + width, bottom + height];
  const bump = (y: number, [direction, inwards]: Point): string => {
    const [from, to] = [perforation - notch * direction, perforation + notch * direction];
    const deep = y + notch * inwards;
    return [
      `${at([from, y])} l\n`,
      arc([from, y], [from, deep], [perforation, deep]),
      arc([perforation, deep], [to, deep], [to, y]),
    ].join("");
  };
  return [
    `${at([left + corner, bottom])} m\n`,
    bump(bottom, [1, 1]),
    `${at([right - corner, bottom])} l\n`,
    arc([right - corner, bottom], [right, bottom], [right, bottom + corner]),
    `${at([right, top - corner])} l\n`,
    arc([right, top - corner], [right, top], [right - corner, top]),
    bump(top, [-1, -1]),
    `${at([left + corner, top])} l\n`,
    arc([left + corner, top], [left, top], [left, top - corner]),
    `${at([left, bottom + corner])} l\n`,
    arc([left, bottom + corner], [left, bottom], [left + corner, bottom]),
    "h\n",
  ].join("");
}

/** Tiles in three columns along the left edge, cut by the round corners of the card. */
function drawMosaic(): string {
  const columns = 3;
  const step = 3.7;
  const gap = 0.45;
  const rows = Math.ceil(card.height / step);
  const tiles = Array.from({ length: rows * columns }, (_, index) => {
    const [row, column] = [Math.floor(index / columns), index % columns];
    // A pseudo-random pattern, the same on every page, with few glazed tiles.
    const draw = (row * 7 + column * 11 + row * row * 3 + column * row * 5) % 23;
    const color = clays[draw === 4 || draw === 17 ? 5 : draw % 5] ?? paper;
    const [x, y] = [card.left + column * step, card.bottom + row * step];
    return `${paint(color)} rg\n${at([x + gap / 2, y + gap / 2])} ${step - gap} ${step - gap} re f\n`;
  });
  return `q\n${cardOutline()}W n\n${tiles.join("")}Q\n`;
}

/** White behind the code, and the dots of the perforation. */
function drawStub(): string {
  const white = `${paint([255, 255, 255])} rg\n131.5 213.5 64 64 re f\n`;
  const from = at([perforation, card.bottom + notch + 1.5]);
  const to = at([perforation, card.bottom + card.height - notch - 1.5]);
  return `${white}q\n1 J\n0.6 w\n[0 2] 0 d\n${paint(dots)} RG\n${from} m\n${to} l\nS\nQ\n`;
}

/** Hairlines between event, product and payment. */
function drawLines(): string {
  return `q\n0.2 w\n${paint(edge)} RG\n${[252.5, 201.5].map((y) => `${at([28, y])} m\n${at([124, y])} l\nS\n`).join("")}Q\n`;
}

/** Fold marks. */
function drawFold(): string {
  const y = pageHeight / 2;
  return `q\n0.2 w\n${paint(edge)} RG\n${at([0, y])} m\n${at([6, y])} l\nS\n${at([pageWidth - 6, y])} m\n${at([pageWidth, y])} l\nS\nQ\n`;
}
