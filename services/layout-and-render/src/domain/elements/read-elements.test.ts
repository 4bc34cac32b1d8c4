import { describe, expect, it } from "vitest";
import { readElements } from "./read-elements.ts";

const place = { left: "16.50", bottom: -2 };
const placed = { page: 1, left: 16.5, bottom: -2 };
const letters = {
  ...{ content: "event_name", width: "177.00", fontsize: "13", fontfamily: "Open Sans", bold: false, italic: true },
  ...{ align: "right", color: [10, 20, 30, 0.5] },
};
const lettering = {
  ...{ content: "event_name", width: 177, fontSize: 13, fontFamily: "Open Sans", bold: false, italic: true },
  ...{ align: "right", color: [10, 20, 30], rotation: 0 },
};
const read = (element: object) => readElements(JSON.stringify([element]))[0];

describe("[L2.6] an element that leaves everything out that it may", () => {
  it("has a secret in black as its code, with a quiet zone", () => {
    expect(read({ type: "barcodearea", ...place, size: "64.00" })).toEqual({
      ...{
        type: "barcodearea",
        ...placed,
        size: 64,
        content: "secret",
        hasQuietZone: true,
        color: [0, 0, 0],
        symbology: "qr",
      },
    });
  });

  it("is on the first page", () => {
    expect(read({ type: "imagearea", ...place, content: "x", width: 1, height: "2.5" })).toEqual({
      ...{ type: "imagearea", ...placed, content: "x", width: 1, height: 2.5 },
    });
    expect(read({ type: "poweredby", ...place, content: "dark", size: 20 })).toEqual({
      ...{ type: "poweredby", ...placed, style: "dark", size: 20 },
    });
  });

  it("has lines of one font size and keeps its size in a container, and has no line height in an area", () => {
    expect(read({ type: "textarea", ...place, ...letters })).toEqual({
      ...{ type: "textarea", ...placed, ...lettering, lineHeight: undefined, downward: false },
    });
    const container = { type: "textcontainer", ...place, ...letters, height: "11.8", verticalalign: "top" };
    expect(read(container)).toEqual({
      ...{ type: "textcontainer", ...placed, ...lettering, height: 11.8, lineHeight: 1 },
      ...{ verticalAlign: "top", isAutoresized: false, splitsLongWords: true },
    });
  });
});

describe("an element that says everything", () => {
  const texts = { text: "a", text_i18n: { en: "b" }, locale: "de-informal", lineheight: "1.2", rotation: "90" };

  it("is read to the last of it", () => {
    const options = {
      page: 2,
      text: "a",
      text_i18n: { en: "b" },
      nowhitespace: true,
      symbology: "aztec",
      color: [255, 0, 0],
      content: "other",
    };
    expect(read({ type: "barcodearea", ...place, size: 1, ...options })).toEqual({
      ...{ type: "barcodearea", ...placed, page: 2, size: 1, content: "other", text: "a", textI18n: { en: "b" } },
      ...{ hasQuietZone: false, symbology: "aztec", color: [255, 0, 0] },
    });
    const known = { text: "a", textI18n: { en: "b" }, locale: "de-informal", lineHeight: 1.2, rotation: 90 };
    expect(read({ type: "textarea", ...place, ...letters, ...texts, downward: true })).toMatchObject({
      ...{ ...known, downward: true },
    });
    const box = { height: 1, verticalalign: "bottom", autoresize: true, splitlongwords: false };
    expect(read({ type: "textcontainer", ...place, ...letters, ...texts, ...box })).toMatchObject({
      ...{ ...known, height: 1, verticalAlign: "bottom", isAutoresized: true, splitsLongWords: false },
    });
  });

  it("may have no language of its own", () => {
    expect(read({ type: "textarea", ...place, ...letters, locale: null })).not.toHaveProperty("locale");
  });
});

it("a layout may be empty, and keeps the order of its elements", () => {
  expect(readElements("[]")).toEqual([]);
  const marks = ["dark", "white", "dark"].map((content) => ({ type: "poweredby", ...place, content, size: 1 }));
  expect(readElements(JSON.stringify(marks)).map((element) => "style" in element && element.style)).toEqual([
    ...["dark", "white", "dark"],
  ]);
});
