import type { Color } from "@tessera/layout-and-render/rendering/paths";
import { drawNumber } from "./draw.ts";
import { circle, Drawing, polygon, quarterDisc, rectangle } from "./draw-background.ts";
import { code, field, mark, words } from "./layout-elements.ts";

const page = { width: 210, height: 297 };
const middle = page.height / 2;

const night: Color = [27, 31, 74];
const indigo: Color = [67, 70, 165];
const coral: Color = [244, 106, 86];
const sand: Color = [250, 206, 140];
const mint: Color = [93, 190, 170];
const mist: Color = [233, 235, 246];
const white: Color = [255, 255, 255];
const fold: Color = [176, 180, 205];
const quiet: Color = [101, 106, 138];

const shades: readonly Color[] = [indigo, coral, sand, mint, mist, night];

/**
 * Draws an A4 page with tiles of quarter circles: the ticket above, and below it a badge that is as large as a postcard when
 * the page is folded twice.
 */
export function drawConference(): Buffer {
  const drawing = new Drawing(page);
  drawing.fill(night, rectangle([0, 237], [page.width, 60]));
  drawTiles(drawing, { left: 0, bottom: 237, columns: 14, rows: 4, side: 15 });
  drawing.fill(mist, rectangle([132, 166], [66, 66]));
  drawing.fill(white, rectangle([133, 167], [64, 64]));
  drawing.line(
    mist,
    [
      [15, 192.5],
      [122, 192.5],
    ],
    { width: 0.4 },
  );
  drawing.fill(coral, rectangle([15, 220], [14, 1.4]));

  drawing.fill(night, rectangle([0, 118.5], [105, 30]));
  drawTiles(drawing, { left: 0, bottom: 118.5, columns: 7, rows: 2, side: 15 });
  drawing.fill(coral, rectangle([0, 0], [105, 22]));
  drawing.fill(mist, rectangle([105, 0], [105, middle]));
  drawing.fill(coral, rectangle([117, 126.5], [14, 1.4]));

  drawing.line(
    fold,
    [
      [0, middle],
      [page.width, middle],
    ],
    { width: 0.3, dash: [0, 1.6] },
  );
  drawing.line(
    fold,
    [
      [105, 0],
      [105, middle],
    ],
    { width: 0.3, dash: [0, 1.6] },
  );
  return drawing.toPdf();
}

interface Tiling {
  readonly left: number;
  readonly bottom: number;
  readonly columns: number;
  readonly rows: number;
  readonly side: number;
}

function drawTiles(drawing: Drawing, { left, bottom, columns, rows, side }: Tiling): void {
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const roll = (about: string, limit: number) => drawNumber(`tile ${about} ${rows} ${row} ${column}`, limit);
      const at = [left + column * side, bottom + row * side] as const;
      const [ground, figure] = [roll("ground", shades.length), 1 + roll("figure", shades.length - 1)];
      const [below = night, above = sand] = [shades[ground], shades[(ground + figure) % shades.length]];
      drawing.fill(below, rectangle(at, [side, side]));
      const corner = roll("corner", 4);
      const kind = roll("kind", 8);
      if (kind < 4) {
        drawing.fill(above, quarterDisc(at, { side, corner }));
        if (kind < 2) drawing.fill(below, quarterDisc(inCorner(at, { side, corner }), { side: side / 2, corner }));
      } else if (kind < 6) {
        drawing.fill(above, quarterDisc(at, { side, corner }));
        drawing.fill(above, quarterDisc(at, { side, corner: corner + 2 }));
        drawing.fill(below, lens(at, side));
      } else if (kind === 6) {
        drawing.fill(above, circle([at[0] + side / 2, at[1] + side / 2], side * 0.34));
      } else {
        const [x, y] = at;
        drawing.fill(
          above,
          polygon([
            [x, y],
            [x + side, y],
            [x + side, y + side],
          ]),
        );
      }
    }
  }
}

/** The small square in a corner of a square. */
function inCorner(
  [x, y]: readonly [number, number],
  { side, corner }: { readonly side: number; readonly corner: number },
): readonly [number, number] {
  const half = side / 2;
  return [x + (corner === 2 || corner === 3 ? half : 0), y + (corner === 1 || corner === 2 ? half : 0)];
}

/** A dot in the middle of a tile. */
function lens([x, y]: readonly [number, number], side: number): string {
  return circle([x + side / 2, y + side / 2], side * 0.16);
}

/** What stands on the ticket and on the badge. */
export const conferenceElements: readonly object[] = [
  field("event_name", [15, 222.5, 108, 11.5], { size: 25, bold: true, color: night, vertical: "bottom" }),
  field("event_date_range", [15, 210, 108, 8], { size: 15, bold: true, color: coral, vertical: "middle" }),
  words(
    { en: "Doors open at {event_admission_time}", de: "Einlass ab {event_admission_time} Uhr" },
    [15, 204, 108, 5.5],
    {
      size: 10.5,
      color: quiet,
    },
  ),
  field("event_location", [15, 194.8, 108, 9], { size: 10.5, color: quiet }),

  words({ en: "TICKET", de: "TICKET" }, [15, 185.5, 60, 4.5], { size: 7.5, color: quiet }),
  field("itemvar", [15, 177.5, 108, 8], { size: 15, bold: true, color: night, vertical: "middle" }),
  words({ en: "FOR", de: "FÜR" }, [15, 171.5, 60, 4.5], { size: 7.5, color: quiet }),
  field("attendee_name", [15, 163.5, 108, 8.5], { size: 15, color: night, vertical: "middle" }),
  words({ en: "Order {order} · {price}", de: "Bestellung {order} · {price}" }, [15, 154, 108, 6], {
    size: 10,
    color: quiet,
  }),
  code([133, 167], 64),
  field("secret", [133, 159, 64, 5.5], { size: 8, align: "center", color: quiet, vertical: "middle" }),
  mark([184, 151.5], 6.5, "dark"),

  field("event_name", [8, 101, 89, 11], { size: 14, bold: true, align: "center", color: indigo, vertical: "middle" }),
  field("attendee_name", [8, 42, 89, 56], {
    size: 38,
    bold: true,
    align: "center",
    color: night,
    vertical: "middle",
  }),
  field("event_date_range", [8, 26, 89, 8], { size: 11, align: "center", color: quiet, vertical: "middle" }),
  field("item", [8, 3, 89, 16], { size: 22, bold: true, align: "center", color: white, vertical: "middle" }),

  words({ en: "Good to know", de: "Gut zu wissen" }, [117, 129, 82, 10], {
    size: 15,
    bold: true,
    color: night,
    vertical: "bottom",
  }),
  field("addons", [117, 40, 82, 40], { size: 12, bold: true, color: indigo }),
  words(
    {
      en:
        "Fold this page twice and carry it as your badge.\n\nShow the code at the entrance and at every workshop. One scan " +
        "admits one person.\n\nPlease leave bags larger than a backpack at the cloakroom.",
      de:
        "Falten Sie diese Seite zweimal und tragen Sie sie als Namensschild.\n\nZeigen Sie den Code am Eingang und bei jedem " +
        "Workshop vor. Jeder Scan gilt für eine Person.\n\nTaschen, die größer als ein Rucksack sind, geben Sie bitte an der Garderobe ab.",
    },
    [117, 83, 82, 39],
    { size: 10.5, color: quiet },
  ),
  mark([117, 12], 9, "dark"),
];
