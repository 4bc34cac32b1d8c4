import { collectGarbage } from "@tessera/testkit/collect-garbage";
import { longestTurn } from "@tessera/testkit/longest-turn";
import { describe, expect, it } from "vitest";
import { aCode, aContainer, aMark, anArea, anImage } from "../../testing/elements.ts";
import { event, item, position, ticket } from "../../testing/print-ticket.ts";
import { encodeSymbol as encode } from "../code-symbol.ts";
import type { LayoutElement } from "../elements/element.ts";
import { LongestValues } from "./choose-longest.ts";
import { findBadCodes } from "./find-bad-codes.ts";
import { findInvisible } from "./find-invisible.ts";
import { findMisplaced, outlineOf } from "./find-misplaced.ts";
import { findUnknownNames } from "./find-unknown-names.ts";
import { KnownNames } from "./known-names.ts";

const page = { width: 100, height: 80 };
const found = (element: LayoutElement) => findMisplaced([element], [page]).map(({ code, message }) => [code, message]);
const box = { left: 0, bottom: 0, width: 100, height: 80 };
const corners = (element: LayoutElement) =>
  outlineOf(element).map((point) => point.map((x) => Math.round(x * 10) / 10));

describe("[L48.2] what is misplaced", () => {
  it("is not what fills the page, or sticks out by a tenth of a millimetre", () => {
    expect(found(anImage(box))).toEqual([]);
    expect(found(aContainer("", { ...box, left: -0.1 }))).toEqual([]);
    expect(found(aCode("", { left: 20.05, bottom: 0, size: 80 }))).toEqual([]);
  });

  it.each<[string, LayoutElement, string]>([
    ["left", anImage({ ...box, left: -0.2 }), "0.2 mm"],
    ["right", aCode("", { left: 60, bottom: 0, size: 50 }), "10 mm"],
    ["at the top", aContainer("", { ...box, bottom: 1.5 }), "1.5 mm"],
    ["below", aMark({ left: 0, bottom: -4, size: 5 }), "4 mm"],
    ["as a line that grows downwards", anArea("", { left: 0, bottom: 2, width: 10, downward: true }), "2.3 mm"],
    ["as a line of twice the height", anArea("", { left: 0, bottom: 75, width: 10, lineHeight: 2 }), "4.7 mm"],
  ])("is what sticks out %s", (_name, element, length) => {
    expect(found(element)).toEqual([
      ["outside_page", `It sticks out of the page by ${length}. Move it, or make it smaller.`],
    ]);
  });

  it("turns with its text, about the upper left corner", () => {
    const upright = { left: 50, bottom: 40, width: 20, height: 10 };
    expect(corners(aContainer("", { ...upright, rotation: 90 }))).toEqual([
      [40, 50],
      [40, 30],
      [50, 30],
      [50, 50],
    ]);
    expect(found(aContainer("", { ...upright, rotation: 450 }))).toEqual([]);
    expect(found(aContainer("", { ...upright, width: 51, rotation: 90 }))).toHaveLength(1);
    expect(found(aContainer("", { ...upright, width: 51, rotation: -90 }))).toHaveLength(1);
    expect(corners(anArea("", { ...upright, fontSize: 72, downward: true, rotation: 180 }))[2]).toEqual([30, 40]);
  });

  it.each<[string, LayoutElement]>([
    ["size", aCode("", { size: 0 })],
    ["size", aMark({ size: -1 })],
    ["width", anImage({ width: 0 })],
    ["height", anImage({ height: -5 })],
    ["fontsize", anArea("", { fontSize: 0 })],
    ["lineheight", aContainer("", { lineHeight: 0 })],
  ])("has no %s", (name, element) => {
    expect(found(element)).toEqual([["no_size", `Its ${name} must be more than 0.`]]);
  });

  it.each([0, 2, 1.5, -1])("is on the page %s of one", (number) => {
    expect(found(aMark({ page: number }))).toEqual([["no_such_page", expect.stringContaining(`no page ${number}`)]]);
  });
});

describe("[L48.4] codes", () => {
  const codes = (elements: readonly LayoutElement[], value = "x".repeat(32)) =>
    findBadCodes(elements, { encode, valuesOf: () => [value] }).map(({ element, code }) => [element, code]);

  it("have modules of at least 0.4 mm, with their quiet zone or without it", () => {
    // 33 modules, and 8 of the quiet zone.
    expect(codes([aCode("", { size: 16.4 })])).toEqual([]);
    expect(codes([aCode("", { size: 16.3 })])).toEqual([[0, "code_too_small"]]);
    expect(codes([aCode("", { size: 13.2, hasQuietZone: false })])).toEqual([]);
    expect(codes([aCode("", { size: 13.1, hasQuietZone: false })])).toEqual([[0, "code_too_small"]]);
  });

  it("are measured by the value that needs most room, which need not be the longest", () => {
    const element = aCode("", { size: 16.3 });
    const valuesOf = () => ["x".repeat(33), "y".repeat(32)];
    expect(findBadCodes([element], { encode, valuesOf })).toMatchObject([{ code: "code_too_small" }]);
    expect(codes([element], "x".repeat(33))).toEqual([]);
  });

  it("are told with a size that would do, and other elements by their number from 1", () => {
    const message =
      "With 32 characters one module is 0.39 mm wide, and scanners need 0.4 mm: make the code at least 16.4 mm large.";
    expect(findBadCodes([aCode("", { size: 16.3 })], { encode, valuesOf: () => ["x".repeat(32)] })).toMatchObject([
      { message },
    ]);
    expect(findBadCodes([aCode(""), aCode("")], { encode, valuesOf: () => ["x"] })).toMatchObject([
      { element: 1, message: expect.stringContaining("the code of element 1,") },
    ]);
  });

  it("have no room for too long a value, and none are drawn for an empty one", () => {
    expect(codes([aCode("")], "x".repeat(5000))).toEqual([[0, "code_too_long"]]);
    expect(findBadCodes([aCode(""), aCode("")], { encode, valuesOf: () => [] })).toEqual([]);
  });

  it("overlap on one page, also where only the zone that must stay free is touched", () => {
    const at = (left: number, more = {}) => aCode("", { left, bottom: 0, size: 41, ...more });
    expect(codes([at(0), at(40.9)])).toEqual([[1, "overlapping_codes"]]);
    expect(codes([at(0), at(41)])).toEqual([]);
    expect(codes([at(0), at(40.9, { page: 2 })])).toEqual([]);
    // The quiet zone is 5 mm wide.
    expect(codes([at(0), at(45.8, { hasQuietZone: false })])).toEqual([[1, "overlapping_codes"]]);
    expect(codes([at(0), at(46.1, { hasQuietZone: false })])).toEqual([]);
  });
});

describe("[L48.9] what cannot be seen", () => {
  const invisible = (element: LayoutElement, { isBare = true, ground = 1 } = {}) =>
    findInvisible([element], { isBare, grounds: new Map([[element, ground]]) }).map(({ code }) => code);

  it("is a text of its own that is empty in every language", () => {
    for (const text of [undefined, "", " \n"]) {
      expect(invisible(anArea("", { content: "other", text }))).toEqual(["no_text"]);
      expect(invisible(aCode("", { content: "other", text }))).toEqual(["no_text"]);
    }
    expect(invisible(aContainer("", { content: "other_i18n", text: "Hello" }))).toEqual(["no_text"]);
    expect(invisible(aContainer("", { content: "other_i18n", textI18n: { en: "\u200b" } }))).toEqual(["no_text"]);
    expect(invisible(aContainer("", { content: "other_i18n", textI18n: { en: "", de: "Hallo" } }))).toEqual([]);
    expect(invisible(anArea("", { content: "other", text: "Hello" }))).toEqual([]);
    expect(invisible(anArea("", { content: "order", text: "" }))).toEqual([]);
  });

  it("is a code that is too light on any ground, and a text that is on bare paper", () => {
    const white = { content: "order", color: [255, 255, 255] } as const;
    const code = (red: number, green: number, blue: number) =>
      invisible(aCode("", { content: "secret", color: [red, green, blue] }), { isBare: false });
    expect([code(255, 255, 255), code(255, 200, 0), code(170, 170, 170)]).toEqual(
      Array.from({ length: 3 }, () => ["code_too_light"]),
    );
    const black = aCode("", { content: "secret" });
    const on = (ground: number) => invisible(black, { isBare: false, ground });
    expect([on(0), on(0.02), on(0.09), on(0.11), on(1)]).toEqual([
      ...Array.from({ length: 3 }, () => ["ground_too_dark"]),
      [],
      [],
    ]);
    expect([code(0, 0, 0), code(20, 30, 90), code(160, 0, 0), code(120, 120, 120)]).toEqual([[], [], [], []]);
    expect(invisible(anArea("", white))).toEqual(["text_too_light"]);
    expect(invisible(aContainer("", white))).toEqual(["text_too_light"]);
    expect(invisible(anArea("", white), { isBare: false })).toEqual([]);
    expect(invisible(anArea("", { content: "order", color: [200, 200, 200] }))).toEqual([]);
  });
});

describe("[L48.3] names", () => {
  const questions = [
    { id: 1, identifier: "DIET", type: "S", options: [] },
    { id: 2, identifier: "PHOTO", type: "F", options: [] },
  ];
  const unknown = (element: LayoutElement, tickets = [ticket({ questions })]) => {
    const known = new KnownNames(ticket({ questions }));
    for (const each of tickets) known.add(each);
    return findUnknownNames([element], known).map(({ code, message }) => [code, message]);
  };

  it.each(["secret", "attendee_name_full_name", "question_DIET", "question_1", "price"])("are known: %s", (content) => {
    expect(unknown(anArea("", { content }))).toEqual([]);
  });

  it.each(["constructor", "__proto__", "meta:", "meta:city", "itemmeta:x", "question_3"])(
    "are unknown: %s",
    (content) => {
      expect(unknown(aCode("", { content }))).toEqual([
        ["unknown_variable", `There is no variable "${content}". Choose one that there is.`],
      ]);
    },
  );

  it("of files are known to images alone", () => {
    const message = '"question_PHOTO" is a file: only an imagearea prints it.';
    expect(unknown(aCode("", { content: "question_PHOTO" }))).toEqual([["unknown_variable", message]]);
    expect(unknown(anImage({ content: "question_PHOTO" }))).toEqual([]);
    const other = 'No file question is called "question_DIET". Choose one that there is.';
    expect(unknown(anImage({ content: "question_DIET" }))).toEqual([["unknown_variable", other]]);
  });

  it("in texts are placeholders, each told once", () => {
    expect(unknown(anArea("", { content: "other", text: "{a} {order} {a} {b}{ c }" }))).toEqual([
      ["unknown_variable", 'There is no variable "a". Choose one that there is.'],
      ["unknown_variable", 'There is no variable "b". Choose one that there is.'],
    ]);
    expect(unknown(anArea("", { content: "order", text: "{a}" }))).toEqual([]);
  });

  it("are known where any ticket has them, by its date, product or variation", () => {
    const metaData = { day: "Friday" };
    const variation = { id: 3, name: {}, description: null, metaData: { hall: "2" } };
    const tickets = [
      ticket({ subevent: { ...event, metaData: { stage: "West" } } }),
      ticket({ position: position({ item: item(1, "Ticket", { metaData }), variation }) }),
    ];
    const text = "{meta:stage}{itemmeta:day}{itemmeta:hall}";
    expect(unknown(anArea("", { content: "other", text }), tickets)).toEqual([]);
    expect(unknown(anArea("", { content: "other", text }))).toHaveLength(3);
  });

  it("of thousands are found at once among a thousand tickets", async () => {
    const many = Array.from({ length: 200 }, (_, id) => ({ id, identifier: `Q${id}`, type: "S", options: [] }));
    const sold = ticket({ questions: many, settings: { nameScheme: "salutation_title_given_family_degree" } });
    const prefixes = ["attendee_name_", "question_", "meta:", ""];
    const names = prefixes.flatMap((prefix) => Array.from({ length: 1000 }, (_, index) => `{${prefix}x${index}}`));
    const find = async () => {
      const known = new KnownNames(sold);
      for (let count = 0; count < 1000; count += 1) known.add({ ...sold });
      const found = findUnknownNames([anArea("", { content: "other", text: names.join("") })], known);
      expect(found).toHaveLength(names.length);
    };
    expect(await longestTurn(find, { enoughMs: 3000 })).toBeLessThan(3000);
  });

  it("are shown cut", () => {
    expect(unknown(aCode("", { content: "x".repeat(10_000) }))).toEqual([
      ["unknown_variable", `There is no variable "${"x".repeat(100)}". Choose one that there is.`],
    ]);
    expect(unknown(aCode("", { content: "" }))).toEqual([
      ["unknown_variable", "Its content is empty. Name a variable."],
    ]);
  });
});

it("[L48.5] long values of hundreds of tickets do not stay in memory", () => {
  const longest = new LongestValues();
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let number = 0; number < 300; number += 1) longest.add([anArea(`${number}`.padEnd(50_000, "x"))]);
  collectGarbage();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(7_000_000);
  expect(longest.tickets()).toHaveLength(4);
});

it("[L48.5] the longest values of many tickets are longest as a whole, in lines, by line and by word", () => {
  const longest = new LongestValues();
  const values = ["aa aa aa aa", "b\nb\nb\nb\nb", "cc cc\ncccc ccccccccc", "ddddddddddd"];
  for (const value of values) longest.add([aContainer(value), aCode(value)]);
  const texts = longest.tickets().map(([first]) => (first !== undefined && "value" in first ? first.value : ""));
  expect(new Set(texts)).toEqual(new Set(values.slice(1)));
  expect(longest.codesOf(1)).toEqual([values[2]]);
  expect(longest.codesOf(0)).toEqual([]);
});
