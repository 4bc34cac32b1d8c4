import type { Color, Point } from "@tessera/layout-and-render/rendering/paths";
import { drawNumber } from "./draw.ts";
import { circle, Drawing, polygon, rectangle } from "./draw-background.ts";
import { code, field, mark, words } from "./layout-elements.ts";

/** As narrow as the printers at the gates. */
const page = { width: 80, height: 200 };

const night: Color = [34, 18, 74];
const plum: Color = [126, 33, 106];
const glow: Color = [255, 146, 84];
const sun: Color = [255, 214, 120];
const star: Color = [250, 230, 245];
const paper: Color = [255, 250, 241];
const ink: Color = [40, 22, 66];
const quiet: Color = [118, 98, 130];
const white: Color = [255, 255, 255];
const dots: Color = [199, 178, 190];

/** Where the evening ends and the paper begins. */
const horizon = 88;

/** Draws an evening over hills above, and paper for what is read below. */
export function drawFestival(): Buffer {
  const drawing = new Drawing(page);
  drawing.shade(rectangle([0, 0], [page.width, page.height]), [horizon + 12, page.height], [glow, plum, night]);
  for (let index = 0; index < 120; index += 1) {
    const roll = (about: string, limit: number) => drawNumber(`star ${about} ${index}`, limit);
    const height = roll("y", 1000) / 1000;
    const at: Point = [roll("x", 800) / 10, 144 + height * 55];
    // Words stand there.
    if (Math.abs(at[0] - page.width / 2) < 31 && at[1] > 148 && at[1] < 193) continue;
    drawing.fill(star, circle(at, 0.12 + (roll("size", 100) / 100) * 0.2 * (0.4 + height)));
  }
  drawSun(drawing, [40, 116], 20);
  const hills: readonly (readonly [Color, number, number])[] = [
    [[168, 44, 104], 112, 0.3],
    [[112, 28, 98], 106, 2.1],
    [[70, 20, 86], 100, 4.4],
    [[40, 16, 70], 94.5, 6.1],
  ];
  for (const [color, height, phase] of hills) drawing.fill(color, hill(height, phase));
  drawTents(drawing);
  drawing.fill(paper, rectangle([-1, -1], [page.width + 2, horizon + 1]));
  drawing.line(
    dots,
    [
      [3, horizon],
      [77, horizon],
    ],
    { width: 0.7, dash: [0, 2] },
  );
  drawing.fill(plum, circle([0, horizon], 2.6));
  drawing.fill(plum, circle([80, horizon], 2.6));
  drawing.fill(white, rectangle([17, 36], [46, 46]));
  return drawing.toPdf();
}

/** A sun that sinks behind bars of dusk. */
function drawSun(drawing: Drawing, center: Point, radius: number): void {
  const [x, y] = center;
  drawing.shade(circle(center, radius), [y - radius, y + radius], [glow, [255, 178, 96], sun]);
  drawing.within(circle(center, radius), () => {
    for (let bar = 0; bar < 5; bar += 1)
      drawing.fill([214, 92, 96], rectangle([x - radius, y + 5 - bar * 4.6], [2 * radius, 0.5 + bar * 0.42]));
  });
}

function hill(height: number, phase: number): string {
  const steps = 80;
  const ridge = Array.from({ length: steps + 1 }, (_, step): Point => {
    const x = (page.width * step) / steps;
    return [x, height + 4.2 * Math.sin(x / 13 + phase) + 1.6 * Math.sin(x / 5.3 + phase * 2)];
  });
  return polygon([[0, horizon - 1], ...ridge, [page.width, horizon - 1]]);
}

/** Tents on the nearest hill. */
function drawTents(drawing: Drawing): void {
  for (const [x, y, size] of [
    [13, 93, 6],
    [21, 91.5, 4],
    [62, 92.5, 7],
  ] as const) {
    drawing.fill(
      sun,
      polygon([
        [x, y],
        [x + size, y + size * 0.9],
        [x + 2 * size, y],
      ]),
    );
    drawing.fill(
      glow,
      polygon([
        [x + size, y + size * 0.9],
        [x + 2 * size, y],
        [x + size * 1.35, y],
      ]),
    );
    drawing.fill(
      ink,
      polygon([
        [x + size * 0.7, y],
        [x + size, y + size * 0.9],
        [x + size * 1.05, y],
      ]),
    );
  }
}

/** What stands on the ticket. */
export const festivalElements: readonly object[] = [
  field("event_series_name", [7, 183, 66, 9], { size: 13, color: sun, align: "center", vertical: "middle" }),
  field("event_name", [7, 164, 66, 18], { size: 36, bold: true, color: white, align: "center", vertical: "middle" }),
  field("event_date_range", [7, 156, 66, 7.5], {
    size: 13,
    bold: true,
    color: white,
    align: "center",
    vertical: "middle",
  }),
  words(
    {
      en: "Gates {event_admission_time} · Music {event_begin_time}",
      de: "Einlass {event_admission_time} Uhr · Musik ab {event_begin_time} Uhr",
    },
    [7, 149.5, 66, 6],
    { size: 9.5, color: [250, 226, 214], align: "center", vertical: "middle" },
  ),
  code([17, 36], 46),
  field("secret", [4, 31, 72, 4.5], { size: 6.5, color: quiet, align: "center", vertical: "middle" }),
  field("itemvar", [6, 23.5, 68, 7], { size: 13, bold: true, color: plum, align: "center", vertical: "middle" }),
  field("attendee_name", [6, 16.5, 68, 7], { size: 12, color: ink, align: "center", vertical: "middle" }),
  words({ en: "Order {order} · {price}", de: "Bestellung {order} · {price}" }, [6, 11.5, 68, 5], {
    size: 8,
    color: quiet,
    align: "center",
    vertical: "middle",
  }),
  mark([33, 4], 5.5, "dark"),
];
