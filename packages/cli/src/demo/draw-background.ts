import { deflateSync } from "node:zlib";
import { pointsPerMm } from "@tessera/layout-and-render/domain/drawing/page-units";
import { arc, at, type Color, type Point, paint, round } from "@tessera/layout-and-render/rendering/paths";

/** Draws on a page; lengths are millimetres from its lower left corner. */
export class Drawing {
  readonly #width: number;
  readonly #height: number;
  readonly #shades: string[] = [];
  #content = "";

  constructor({ width, height }: { readonly width: number; readonly height: number }) {
    this.#width = width;
    this.#height = height;
  }

  fill(color: Color, path: string): void {
    this.#content += `${paint(color)} rg\n${path}f\n`;
  }

  line(color: Color, [from, to]: readonly [Point, Point], { width, dash = [] }: LineLook): void {
    this.#content += `q\n1 J\n${round(width)} w\n[${dash.join(" ")}] 0 d\n${paint(color)} RG\n${at(from)} m\n${at(to)} l\nS\nQ\n`;
  }

  /** Fills a path with colors that follow each other from below to above. */
  shade(path: string, [from, to]: readonly [number, number], colors: readonly [Color, Color, Color]): void {
    const [low, middle, high] = colors.map((color) => `[${paint(color)}]`);
    const blend = (one = "", other = "") => `<</FunctionType 2/Domain[0 1]/C0${one}/C1${other}/N 1>>`;
    const both = `<</FunctionType 3/Domain[0 1]/Functions[${blend(low, middle)}${blend(middle, high)}]/Bounds[0.5]/Encode[0 1 0 1]>>`;
    const name = `S${this.#shades.length}`;
    const coords = `0 ${round(from)} 0 ${round(to)}`;
    this.#shades.push(
      `/${name}<</ShadingType 2/ColorSpace/DeviceRGB/Coords[${coords}]/Function${both}/Extend[true true]>>`,
    );
    this.#content += `q\n${path}W n\n/${name} sh\nQ\n`;
  }

  /** Draws within a path alone. */
  within(path: string, draw: () => void): void {
    this.#content += `q\n${path}W n\n`;
    draw();
    this.#content += "Q\n";
  }

  /** The page as a PDF. */
  toPdf(): Buffer {
    const content = deflateSync(`${round(pointsPerMm)} 0 0 ${round(pointsPerMm)} 0 0 cm\n${this.#content}`, {
      level: 9,
    });
    const size = [this.#width, this.#height].map((length) => round(length * pointsPerMm)).join(" ");
    const resources = `<</Shading<<${this.#shades.join("")}>>>>`;
    return assemble([
      Buffer.from("<</Type/Catalog/Pages 2 0 R>>"),
      Buffer.from("<</Type/Pages/Kids[3 0 R]/Count 1>>"),
      Buffer.from(`<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${size}]/Resources${resources}/Contents 4 0 R>>`),
      Buffer.concat([
        Buffer.from(`<</Length ${content.length}/Filter/FlateDecode>>\nstream\n`),
        content,
        Buffer.from("\nendstream"),
      ]),
    ]);
  }
}

interface LineLook {
  readonly width: number;
  readonly dash?: readonly number[];
}

/** Writes objects into a file, numbered from 1; the first is its root. */
function assemble(objects: readonly Buffer[]): Buffer {
  const pieces = [Buffer.from("%PDF-1.7\n%\u00b5\u00b5\n", "latin1")];
  const offsets: number[] = [];
  let length = pieces[0]?.length ?? 0;
  for (const [index, object] of objects.entries()) {
    offsets.push(length);
    const piece = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from("\nendobj\n")]);
    pieces.push(piece);
    length += piece.length;
  }
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const count = objects.length + 1;
  pieces.push(
    Buffer.from(
      `xref\n0 ${count}\n0000000000 65535 f \n${rows}trailer\n<</Size ${count}/Root 1 0 R>>\nstartxref\n${length}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(pieces);
}

export function rectangle([x, y]: Point, [width, height]: readonly [number, number]): string {
  return `${at([x, y])} ${round(width)} ${round(height)} re\n`;
}

export function circle([x, y]: Point, radius: number): string {
  const path = [
    arc([x + radius, y], [x + radius, y + radius], [x, y + radius]),
    arc([x, y + radius], [x - radius, y + radius], [x - radius, y]),
    arc([x - radius, y], [x - radius, y - radius], [x, y - radius]),
    arc([x, y - radius], [x + radius, y - radius], [x + radius, y]),
  ];
  return `${at([x + radius, y])} m\n${path.join("")}h\n`;
}

/** A quarter of a disc that fills a square from one of its corners: 0 is the lower left one, then clockwise. */
export function quarterDisc(
  [x, y]: Point,
  { side, corner }: { readonly side: number; readonly corner: number },
): string {
  const corners: readonly Point[] = [
    [x, y],
    [x, y + side],
    [x + side, y + side],
    [x + side, y],
  ];
  const [center = corners[0], from = center, beyond = center, to = center] = [0, 1, 2, 3].map(
    (step) => corners[(corner + step) % 4],
  );
  if (center === undefined || from === undefined || beyond === undefined || to === undefined) return "";
  return `${at(center)} m\n${at(from)} l\n${arc(from, beyond, to)}h\n`;
}

export function polygon(points: readonly Point[]): string {
  return `${points.map((point, index) => `${at(point)} ${index === 0 ? "m" : "l"}\n`).join("")}h\n`;
}
