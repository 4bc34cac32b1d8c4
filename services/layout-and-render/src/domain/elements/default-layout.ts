import type { Color, LayoutElement, TextContainer } from "./element.ts";

const ink: Color = [31, 41, 55];
const clay: Color = [178, 74, 36];
const quiet: Color = [100, 108, 120];

/** A text of the built-in design, which shrinks if it is long. */
function line(
  content: string,
  [left, bottom, width, height]: readonly [number, number, number, number],
  look: Partial<Pick<TextContainer, "fontSize" | "bold" | "align" | "verticalAlign" | "color" | "lineHeight">> = {},
): TextContainer {
  return {
    type: "textcontainer",
    page: 1,
    left,
    bottom,
    width,
    height,
    content,
    fontSize: 12,
    fontFamily: "Open Sans",
    bold: false,
    italic: false,
    align: "left",
    verticalAlign: "middle",
    color: ink,
    lineHeight: 1,
    rotation: 0,
    isAutoresized: true,
    splitsLongWords: true,
    ...look,
  };
}

/** The layout of tickets without a layout, on the built-in background. */
export const defaultLayout: readonly LayoutElement[] = [
  {
    type: "barcodearea",
    symbology: "qr",
    page: 1,
    left: 131.5,
    bottom: 213.5,
    size: 64,
    content: "secret",
    hasQuietZone: true,
    color: [0, 0, 0],
  },
  line("event_name", [28, 263.5, 96, 19], { fontSize: 21, bold: true, verticalAlign: "bottom" }),
  line("event_begin", [28, 255, 96, 7.5], { fontSize: 13, bold: true, color: clay }),
  line("itemvar", [28, 241.5, 96, 8.5], { fontSize: 14, bold: true }),
  line("attendee_name", [28, 233, 96, 8], { fontSize: 14 }),
  line("seat", [28, 225.5, 96, 7], {}),
  line("event_location", [28, 205, 96, 19], { fontSize: 11, verticalAlign: "top", color: quiet, lineHeight: 1.05 }),
  line("order", [28, 190, 44, 8], { fontSize: 13, bold: true }),
  line("price", [74, 190, 50, 8], { fontSize: 13, align: "right" }),
  line("secret", [131.5, 204, 64, 7], { fontSize: 8.5, align: "center", color: quiet }),
  { type: "poweredby", page: 1, left: 93.6, bottom: 12, size: 14, style: "dark" },
];
