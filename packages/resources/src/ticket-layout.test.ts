import { compileSchema } from "@tessera/schema/schema";
import { describe, expect, it } from "vitest";
import { compileLayoutSchema, findLayoutProblem, layoutAssignment, ticketLayout } from "./ticket-layout.ts";

const prefix = "This is no valid layout: ";

const place = { left: 10, bottom: "20.50" };
const letters = {
  ...{ content: "event_name", width: "100", fontsize: 13, fontfamily: "Open Sans", bold: false, italic: true },
  ...{ align: "center", color: [0, 127.5, 255, 0.5] },
};
const optionalLetters = {
  ...{ page: 2, text: "Text", text_i18n: { en: "Text", "de-informal": "Text", "es-419": "" }, locale: null },
  ...{ lineheight: "1.2", rotation: -90 },
};
const samples = {
  barcodearea: { type: "barcodearea", ...place, size: "64.00" },
  imagearea: { type: "imagearea", ...place, content: "question_1", width: 10, height: 20 },
  textarea: { type: "textarea", ...place, ...letters },
  textcontainer: { type: "textcontainer", ...place, ...letters, height: 10, verticalalign: "middle" },
  poweredby: { type: "poweredby", ...place, content: "dark", size: 20 },
};
const options = {
  barcodearea: {
    ...{ page: 1, content: "secret", text: "x", text_i18n: {}, nowhitespace: true, color: [0, 0, 0] },
  },
  imagearea: { page: 1 },
  textarea: { ...optionalLetters, downward: true },
  textcontainer: { ...optionalLetters, autoresize: true, splitlongwords: false },
  poweredby: { page: -1.5 },
};
type Kind = keyof typeof samples;
const kinds = Object.keys(samples) as Kind[];

const problemOf = (...elements: unknown[]) => findLayoutProblem(JSON.stringify(elements));

describe("[L2.1] an element", () => {
  it.each(kinds)("of kind %s has its own properties", (kind) => {
    expect(problemOf(samples[kind], { ...samples[kind], ...options[kind] })).toBeUndefined();
  });

  it.each(kinds)("of kind %s needs each of them, and has no others", (kind) => {
    for (const name of Object.keys(samples[kind])) {
      const rest = Object.fromEntries(Object.entries(samples[kind]).filter(([each]) => each !== name));
      expect(problemOf(rest), name).toBe(`${prefix}Element 1, ${name}: This field is required.`);
    }
    for (const name of ["heigth", "constructor", "toString", "a.b", "0"])
      expect(problemOf({ ...samples[kind], [name]: 1 })).toBe(`${prefix}Element 1, ${name}: This field is not known.`);
    expect(findLayoutProblem(JSON.stringify([samples[kind]]).replace("{", '{"__proto__":1,'))).toContain("__proto__");
    for (const other of kinds) {
      const foreign = Object.keys(options[other]).find((name) => !(name in samples[kind]) && !(name in options[kind]));
      if (foreign !== undefined) expect(problemOf({ ...samples[kind], [foreign]: 1 })).toContain(`, ${foreign}: `);
    }
  });

  it.each(["text", "Barcodearea", "", null, 5, ["textarea"]])("is of no kind %j", (type) => {
    expect(problemOf({ ...samples.textarea, type })).toMatch(
      /^.*Element 1, type: This is not one of the valid choices\.$/,
    );
  });

  it.each([5, "text", null, [], true])("is not %j", (element) => {
    expect(problemOf(samples.poweredby, element)).toMatch(/Element 2: Expected object\.$/);
  });
});

describe("[L2.2] a size or position", () => {
  it.each([0, -3, 1e6, 0.1, "0", "12", "12.50", "007", "9".repeat(300)])("may be %j", (left) => {
    expect(problemOf({ ...samples.poweredby, left })).toBeUndefined();
  });

  it.each(["-1", "+1", "1.", ".5", "1e3", " 1", "1 ", "1,5", "", "१", "0x1", null, true, [1], "9".repeat(400)])(
    "is not %j",
    (left) => {
      expect(problemOf({ ...samples.poweredby, left })).toContain("Element 1, left: ");
    },
  );

  it("is finite", () => {
    const json = JSON.stringify([samples.poweredby]).replace(":10,", ":1e999,");
    expect(findLayoutProblem(json)).toContain("Element 1, left: ");
    expect(findLayoutProblem(json.replace("1e999", "1e300"))).toBeUndefined();
    expect(findLayoutProblem(json.replace("1e999", '1,"page":1e999'))).toContain("Element 1, page: ");
  });
});

describe("[L2.3] a property", () => {
  it.each([
    ["page", "1"],
    ["content", 5],
    ["text", null],
    ["text", "a\0"],
    ["text", "\ud800"],
    ["text_i18n", { en: 5 }],
    ["text_i18n", { 123: "x" }],
    ["text_i18n", ["x"]],
    ["locale", 5],
    ["fontfamily", null],
    ["bold", "true"],
    ["italic", 0],
    ["downward", null],
    ["align", "justify"],
    ["color", [0, 0]],
    ["color", [0, 0, 0, 0, 0]],
    ["color", [0, 0, 256]],
    ["color", [-1, 0, 0]],
    ["color", ["0", 0, 0]],
    ["color", "red"],
  ])("%s is not %j", (name, value) => {
    expect(problemOf({ ...samples.textarea, [name]: value })).toContain(`Element 1, ${name}`);
  });

  it("is one of a few words where it chooses", () => {
    expect(problemOf({ ...samples.poweredby, content: "black" })).toContain("Element 1, content: ");
    expect(problemOf({ ...samples.textcontainer, verticalalign: "center" })).toContain("Element 1, verticalalign: ");
  });

  it("names any variable, also one that there is not", () => {
    expect(problemOf({ ...samples.textarea, content: "no such variable" })).toBeUndefined();
  });
});

describe("[L2.4] what is wrong with a layout", () => {
  it("is told by element and property, all of it", () => {
    expect(problemOf(samples.imagearea, { ...samples.poweredby, size: "x", left: "-1" }, { type: "x" })).toBe(
      `${prefix}Element 2, left: Expected a number, or digits in quotes; a minus sign only without quotes. ` +
        "Element 2, size: Expected a number, or digits in quotes; a minus sign only without quotes. " +
        "Element 3, type: This is not one of the valid choices.",
    );
  });

  it("is told up to a limit", () => {
    const problem = problemOf(...Array.from({ length: 500 }, () => ({ ["x".repeat(50_000 / 500)]: 1 }))) ?? "";
    expect(problem).toMatch(/ And \d+ more\.$/);
    expect(problem.length).toBeLessThan(5000);
  });

  it.each(["{}", "5", '"[]"', "null", "true"])("is that it is no list: %s", (json) => {
    expect(findLayoutProblem(json)).toBe(`${prefix}Expected array.`);
  });

  it("is that it is no JSON", () => {
    expect(findLayoutProblem("[")).toBe(`${prefix}It is not JSON.`);
  });
});

describe("[L2.5] a layout", () => {
  it("has no element, or up to 500", () => {
    expect(problemOf()).toBeUndefined();
    expect(problemOf(...Array.from({ length: 500 }, () => samples.poweredby))).toBeUndefined();
    expect(problemOf(...Array.from({ length: 501 }, () => samples.poweredby))).toBe(`${prefix}At most 500 allowed.`);
    expect(problemOf(...Array.from({ length: 10_000 }, () => samples.poweredby))).toContain(prefix);
  });

  it("has at most 256 KiB", () => {
    expect(problemOf({ ...samples.textarea, text: "ß".repeat(130_000) })).toBeUndefined();
    expect(problemOf({ ...samples.textarea, text: "ß".repeat(132_000) })).toBe(`${prefix}It is longer than 256 KiB.`);
  });
});

describe("the fields of a layout", () => {
  const check = compileLayoutSchema(ticketLayout);

  it("are read, and what is wrong with them and with the elements is told at once", () => {
    expect(check({ name: " x ", layout: "[ ]" })).toEqual({
      ok: true,
      value: { name: "x", default: false, layout: "[ ]", background: null },
    });
    expect(check({ name: "", layout: "[5]", default: "maybe" })).toMatchObject({
      ok: false,
      errors: { name: [expect.anything()], default: [expect.anything()], layout: [expect.stringContaining(prefix)] },
    });
    expect(check({})).toMatchObject({ ok: false, errors: { name: [expect.anything()], layout: [expect.anything()] } });
    expect(check(5)).toMatchObject({ ok: false });
  });
});

it("an assignment is for the channel `web`, unless it says otherwise", () => {
  expect(compileSchema(layoutAssignment)({ item: 1 })).toEqual({ ok: true, value: { item: 1, sales_channel: "web" } });
});
