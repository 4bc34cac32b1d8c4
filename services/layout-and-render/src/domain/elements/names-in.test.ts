import { describe, expect, it } from "vitest";
import { textArea } from "../../testing/print-ticket.ts";
import { defaultLayout } from "./default-layout.ts";
import type { BarcodeArea, ImageArea, LayoutElement } from "./element.ts";
import { mayPrintScans } from "./names-in.ts";

const placed = { page: 1, left: 0, bottom: 0 };
const code = (content: string, text?: string): BarcodeArea => ({
  ...{ type: "barcodearea", symbology: "qr", ...placed, size: 30, hasQuietZone: true, color: [0, 0, 0], content },
  ...(text === undefined ? {} : { text }),
});
const image = (content: string): ImageArea => ({ type: "imagearea", ...placed, width: 10, height: 10, content });

describe("scans are asked for", () => {
  it.each<[string, LayoutElement]>([
    ["a text", textArea("first_scan")],
    ["another text", textArea("checked_in_addons")],
    ["a placeholder", textArea("other", { text: "Welcome since {first_scan}!" })],
    ["a placeholder in one of its languages", textArea("other_i18n", { textI18n: { en: "-", de: "{first_scan}" } })],
    ["a code", code("first_scan")],
    ["a placeholder of a code", code("other", "{order}{checked_in_addons}")],
  ])("for %s", (_name, element) => {
    expect(mayPrintScans([textArea("order"), element])).toBe(true);
  });

  it("for nothing else", () => {
    expect(mayPrintScans([])).toBe(false);
    expect(mayPrintScans(defaultLayout)).toBe(false);
    const others = [
      textArea("addons"),
      textArea("order", { text: "{first_scan}" }),
      textArea("other", { text: "first_scan { first_scan }", textI18n: { en: "{first_scan}" } }),
      textArea("other_i18n", { text: "{first_scan}" }),
      code("secret"),
      image("first_scan"),
      { type: "poweredby", ...placed, size: 5, style: "dark" } as const,
    ];
    expect(mayPrintScans(others)).toBe(false);
  });
});
