import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { at, attendee, event, item, position, print, printing, textArea, ticket } from "../../testing/print-ticket.ts";
import { Formats } from "../formats/formats.ts";
import { listVariables } from "../variables/find-variable.ts";
import type { BarcodeArea, ImageArea, LayoutElement, PoweredBy, TextContainer } from "./element.ts";
import { evaluateAll, resolveElements } from "./resolve-elements.ts";

const barcode = (content: string, rest: Partial<BarcodeArea> = {}): BarcodeArea => ({
  type: "barcodearea",
  symbology: "qr",
  page: 1,
  left: 0,
  bottom: 0,
  size: 30,
  hasQuietZone: true,
  color: [0, 0, 0],
  content,
  ...rest,
});
const codeOf = (content: string, printed = ticket(), rest: Partial<BarcodeArea> = {}) =>
  resolveElements([barcode(content, rest)], printed, printing).elements[0];

describe("contents of elements", () => {
  it("[L10.1] print the variable that they name", () => {
    expect(print("order")).toEqual({ value: "ABCDE", warnings: [] });
  });

  it.each(["unknown", "constructor", "__proto__", "toString", "question_99", "attendee_name_constructor", " order"])(
    "[L10.2] print nothing for the unknown name %s",
    (name) => {
      expect(print(name)).toEqual({ value: "", warnings: [] });
      expect(codeOf(name)).toMatchObject({ value: "" });
    },
  );

  it("[L10.3] are marked where a variable fails, and the others print", () => {
    const broken = ticket({ event: { ...event, timezone: "Nowhere/Land" } });
    const elements = [
      textArea("order"),
      textArea("event_begin"),
      textArea("other", { text: "at {event_begin_time}!" }),
    ];
    const { elements: resolved, warnings } = resolveElements(elements, broken, printing);
    expect(resolved).toMatchObject([{ value: "ABCDE" }, { value: "(error)" }, { value: "at (error)!" }]);
    expect(warnings).toEqual([
      "Element 2 (textarea event_begin): event_begin cannot be printed for this ticket",
      "Element 3 (textarea other): event_begin_time cannot be printed for this ticket",
    ]);
  });

  it("[L10.3] are marked where they name nothing", () => {
    expect(print("")).toEqual({ value: "(error)", warnings: ["Element 1 (textarea): it has no content"] });
  });

  it("[L50.7] are empty where check-in did not answer, and that is told", () => {
    const elements = [
      textArea("other", { text: "{order}: {first_scan}, {first_scan}" }),
      textArea("checked_in_addons"),
      textArea("addons"),
      barcode("first_scan"),
    ];
    const addons = [position({ id: 2, item: item(2, "Lunch") })];
    const { elements: resolved, warnings } = resolveElements(elements, ticket({ addons, scans: null }), printing);
    expect(resolved).toMatchObject([{ value: "ABCDE: , " }, { value: "" }, { value: "Lunch" }, { value: "" }]);
    expect(warnings).toEqual([
      "Element 1 (textarea other): first_scan is empty: check-in does not answer",
      "Element 2 (textarea checked_in_addons): checked_in_addons is empty: check-in does not answer",
      "Element 4 (barcodearea first_scan): first_scan is empty: check-in does not answer",
    ]);
    expect(resolveElements(elements, ticket({ addons }), printing).warnings).toEqual([]);
  });

  it("[L10.4] are a text of their own, or one in the language that fits best", () => {
    const textI18n = { en: "Welcome", de: "Willkommen", "fr-ca": "Bienvenue" };
    const inLocale = (locale: string) => print("other_i18n", ticket({ order: { locale } }), { textI18n }).value;
    expect(print("other", ticket(), { text: "Doors open early" }).value).toBe("Doors open early");
    expect(["de", "de-informal", "fr-ca", "fr", "nl"].map(inLocale)).toEqual([
      "Willkommen",
      "Willkommen",
      "Bienvenue",
      "Bienvenue",
      "Welcome",
    ]);
    expect(print("other_i18n", ticket(), { textI18n: { it: "Benvenuti" } }).value).toBe("Benvenuti");
    expect(print("other_i18n").value).toBe("");
    expect(print("other").value).toBe("");
  });

  it.each([
    ["{order}", "ABCDE"],
    ["#{order}-{positionid}, {item}", "#ABCDE-1, Ticket"],
    ["{meta:city}/{itemmeta:day}", "Berlin/"],
    ["{unknown} {order {order } {} {{order}} {Order}", "{unknown} {order {order } {} {ABCDE} {Order}"],
    ["{attendee_name}", "{order} $& {attendee_name}"],
    ["{secret}", "s3cret-of-more-than-thirty-two-characters"],
    ["%(order)s &{order} {order!r} {0}", "%(order)s &ABCDE {order!r} {0}"],
    ["{__proto__}{constructor}{other}", "{__proto__}{constructor}{other}"],
  ])("[L10.5] replace known names in %s, once", (text, expected) => {
    const printed = ticket({
      event: { ...event, metaData: { city: "Berlin" } },
      position: position({
        secret: "s3cret-of-more-than-thirty-two-characters",
        attendee: { ...attendee, name: "{order} $& {attendee_name}" },
      }),
    });
    expect(print("other", printed, { text }).value).toBe(expected);
    expect(print("other_i18n", printed, { textI18n: { en: text } }).value).toBe(expected);
    expect(codeOf("other", printed, { text })).toMatchObject({ value: expected });
  });

  it("[L10.6] shorten a long secret for people, and never in a code", () => {
    const [short, long] = ["x".repeat(32), "y".repeat(33)];
    const withSecret = (secret: string) => ticket({ position: position({ secret }) });
    expect(print("secret", withSecret(short)).value).toBe(short);
    expect(print("secret", withSecret(long)).value).toBe(`${"y".repeat(30)}…`);
    expect(codeOf("secret", withSecret(long))).toMatchObject({ value: long });
  });

  it("[L10.7] are in the language of their element, else of the order", () => {
    const printed = ticket({ order: { locale: "de" } });
    const names = ["en", "", undefined].map(
      (locale) => resolveElements([textArea("event_name", { locale })], printed, printing).elements,
    );
    expect(names.flat()).toMatchObject([
      { value: "Festival", language: "en" },
      { value: "Festspiele", language: "de" },
      { value: "Festspiele", language: "de" },
    ]);
  });

  it("[L10.8] of a thousand kilobytes are cut, and that is told", () => {
    const description = { en: "🎟".repeat(500_000) };
    const printed = ticket({ position: position({ item: item(1, "Ticket", { description }) }) });
    const { value, warnings } = print("item_description", printed);
    expect(value.length).toBe(50_000);
    expect(warnings).toEqual(["Element 1 (textarea item_description): only the first 50000 characters are printed"]);
    const often = print("other", printed, { text: "{item_description}".repeat(10_000) });
    expect(often.value.length).toBe(50_000);
    expect(often.warnings).toHaveLength(1);
    expect(print("other", ticket(), { text: "a".repeat(1_000_000) }).value.length).toBe(50_000);
  });

  it("[L10.12] of hundreds of long texts do not fill the memory: all texts of a ticket are cut together, and codes are whole or left out", () => {
    const description = { en: "x".repeat(49_900) };
    const printed = ticket({ position: position({ item: item(1, "Ticket", { description }) }) });
    const { elements, warnings } = resolveElements(
      [
        ...Array.from({ length: 500 }, (_, index) =>
          textArea("other", { text: `${index}{item_description}{order}`, locale: "en" }),
        ),
        barcode("secret"),
        barcode("order"),
      ],
      printed,
      printing,
    );
    const values = elements.map((element) => ("value" in element ? element.value : ""));
    expect(values.join("").length).toBe(400_000 + "s3cret".length);
    expect(values.slice(8)).toEqual([values[8], ...Array<string>(491).fill(""), "s3cret", ""]);
    expect(values.slice(0, 8).every((value) => value.endsWith("ABCDE"))).toBe(true);
    expect(warnings.slice(-2)).toEqual([
      "Element 500 (textarea other): only the first 0 characters are printed: the texts of a ticket have 400000 in all",
      "Element 502 (barcodearea order): it is not printed: the texts of a ticket have 400000 in all",
    ]);
    expect(warnings).toHaveLength(493);
  });

  it("[L10.13] that shrink have a limit together: later ones keep their size, and that is told", () => {
    const box = (text: string, rest: Partial<TextContainer> = {}): TextContainer => ({
      ...textArea("other", { text }),
      type: "textcontainer",
      lineHeight: 1,
      height: 10,
      verticalAlign: "top",
      isAutoresized: true,
      splitsLongWords: false,
      ...rest,
    });
    const long = "x".repeat(6000);
    const { elements, warnings } = resolveElements(
      [box(long), box(long), box(long, { isAutoresized: false }), box("x".repeat(4000)), box("x")],
      ticket(),
      printing,
    );
    expect(elements.map((element) => "isAutoresized" in element && element.isAutoresized)).toEqual([
      ...[true, false, false, true, false],
    ]);
    expect(warnings).toEqual(
      [2, 5].map(
        (element) =>
          `Element ${element} (textcontainer other): it is not made smaller: the texts of a ticket that are have 10000 characters in all`,
      ),
    );
  });

  it("[L10.9] are kept in every script, without what cannot be printed", () => {
    const lines = "1\v2\f3\u2029a\r\nb\rc\u2028d\u0085e\tf\0g\u001b[1mh\u007f\ud800i";
    expect(print("other", ticket(), { text: lines }).value).toBe("1\n2\n3\na\nb\nc\nd\ne\tfg[1mh\ufffdi");
    const scripts = "Ω Ж 漢字 한국 עברית العربية 👩‍👩‍👧 é e\u0301 \u202eabc\u202c";
    expect(print("other", ticket(), { text: scripts }).value).toBe(scripts);
  });

  it("[L10.10] are pictures where a question was answered with one, of the ticket or of that which it was added to", () => {
    const image = (content: string): ImageArea => ({
      type: "imagearea",
      page: 1,
      left: 0,
      bottom: 0,
      width: 10,
      height: 10,
      content,
    });
    const answer = (question: number, fileType: string | null) => ({
      question,
      text: "file:…",
      chosen: [],
      fileType,
    });
    const question = (id: number, type = "F") => ({ id, identifier: `Q${id}`, type, options: [] });
    const printed = ticket({
      position: position({ id: 7, answers: [answer(1, "image/png"), answer(2, "application/pdf"), answer(4, null)] }),
      parent: position({ id: 6, answers: [answer(1, "image/png"), answer(3, "image/jpeg")] }),
      questions: [question(1), question(2), question(3), question(4, "S"), question(5)],
    });
    const names = [
      "question_Q1",
      "question_1",
      "question_Q2",
      "question_Q3",
      "question_Q4",
      "question_Q5",
      "secret",
      "",
    ];
    const { elements, warnings } = resolveElements(names.map(image), printed, printing);
    expect(elements.map((element) => (element.type === "imagearea" ? element.image : undefined))).toEqual([
      { position: 7, question: 1 },
      { position: 7, question: 1 },
      null,
      { position: 6, question: 3 },
      null,
      null,
      null,
      null,
    ]);
    expect(warnings).toEqual([]);
    expect(print("question_Q1", printed).value).toBe("");
  });

  it("keep the mark of the platform as it is", () => {
    const mark: PoweredBy = { type: "poweredby", page: 1, left: 1, bottom: 1, style: "dark", size: 20 };
    expect(resolveElements([mark], ticket(), printing)).toEqual({ elements: [mark], warnings: [] });
  });
});

describe("all variables of a ticket", () => {
  it("[L10.11] are texts and pictures by name, the secret in full", () => {
    const printed = ticket({
      event: { ...event, metaData: { city: "Berlin" }, itemMetaProperties: { day: "Friday" } },
      position: position({ secret: "s".repeat(40) }),
      questions: [
        { id: 1, identifier: "DIET", type: "S", options: [] },
        { id: 2, identifier: "PHOTO", type: "F", options: [] },
      ],
    });
    const { texts, images } = evaluateAll(printed, printing);
    expect([...texts.keys()]).toEqual(listVariables(printed));
    expect(Object.fromEntries(texts)).toMatchObject({
      secret: "s".repeat(40),
      order: "ABCDE",
      question_DIET: "",
      "meta:city": "Berlin",
      "itemmeta:day": "Friday",
      attendee_name_full_name: "",
    });
    expect([...images]).toEqual([["question_PHOTO", null]]);
  });
});

/** Texts as they may arrive, or worse. */
const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.string({ unit: "grapheme", maxLength: 30 }),
  fc.constantFrom("", "\ud800", "\0", "{order}", "{{", "__proto__", "constructor", "\u202e", "e\u0301".repeat(40)),
);
const anyTexts = fc.dictionary(anyText, anyText, { maxKeys: 4 });
const anyMoment = fc.oneof(
  fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }).map((seconds) => seconds * 1_000_000),
  fc.constantFrom(at("0001-01-01T00:00:00Z"), at("9999-12-31T23:59:59.999999Z"), at("2025-03-30T01:00:00Z")),
);
const zones = ["UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia", "Asia/Kathmandu", "Nowhere", ""];
const locales = [
  "en",
  "en-us",
  "de-informal",
  "pt_BR",
  "ar",
  "fa",
  "th",
  "zh-hant",
  "xx",
  "",
  "x".repeat(50),
  "\0",
  "-",
];

const anyTicket = fc
  .record({
    locale: fc.oneof(fc.constantFrom(...locales), anyText),
    region: fc.option(fc.oneof(fc.constantFrom("AT", "us", "419"), anyText)),
    nameScheme: fc.oneof(fc.constantFrom("full", "salutation_title_given_family_degree"), anyText),
    timezone: fc.constantFrom(...zones),
    currency: fc.oneof(fc.constantFrom("EUR", "JPY", "KWD", "XXX"), anyText),
    price: fc.oneof(fc.constantFrom("0.00", "-0.00", "-1234567890123.45", "1e9", "NaN"), anyText),
    dateFrom: anyMoment,
    dateTo: fc.option(anyMoment),
    name: anyText,
    texts: anyTexts,
    answers: fc.array(fc.tuple(fc.constantFrom(..."NSTBCMFDHW", "CC", "TEL", "?"), anyText), { maxLength: 4 }),
  })
  .map((parts) =>
    ticket({
      organizer: parts.name,
      event: {
        ...event,
        name: parts.texts,
        location: parts.texts,
        metaData: parts.texts,
        currency: parts.currency,
        timezone: parts.timezone,
        dateFrom: parts.dateFrom,
        dateTo: parts.dateTo,
      },
      settings: { region: parts.region, nameScheme: parts.nameScheme },
      order: { locale: parts.locale, phone: parts.name, placedAt: parts.dateFrom },
      position: position({
        price: parts.price,
        item: item(1, parts.name),
        attendee: { ...attendee, name: parts.name, nameParts: parts.texts, country: parts.name },
        answers: parts.answers.map(([, text], index) => ({
          question: index,
          text,
          chosen: [],
          fileType: null,
        })),
      }),
      addons: [position({ price: parts.price })],
      questions: parts.answers.map(([type], id) => ({ id, identifier: `Q${id}`, type, options: [] })),
    }),
  );

describe("whatever a ticket has", () => {
  it("[L10.3] every variable is written, in texts that can be printed", () => {
    fc.assert(
      fc.property(anyTicket, anyText, anyText, (printed, content, text) => {
        const { texts } = evaluateAll(printed, { now: printing.now, formats: new Formats() });
        for (const [name, value] of texts) {
          if (name !== "secret") expect(value).not.toMatch(/[\0\r]|\p{Surrogate}/u);
        }
        const elements: LayoutElement[] = [
          textArea(content, { text, locale: text }),
          textArea("other", { text }),
          textArea("other_i18n", { textI18n: { [content]: text } }),
          barcode(content),
          ...["meta:", "itemmeta:", "question_", "attendee_name_"].map((prefix) => textArea(prefix + content)),
        ];
        expect(resolveElements(elements, printed, printing).elements).toHaveLength(elements.length);
      }),
      { numRuns: 300 },
    );
  });

  it("[L10.5] a text without known names stays as it is", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        fc.pre(!/\{[-\w:]+\}/.test(text));
        expect(print("other", ticket(), { text }).value).toBe(text.replaceAll(/[^\P{Cc}\n\t]/gu, ""));
      }),
    );
  });
});
