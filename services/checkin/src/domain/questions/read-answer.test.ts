import { assert, constantFrom, date, double, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { readerOf } from "../../testing/decisions.ts";
import { type Question, type QuestionType, readQuestion } from "./question.ts";
import { readAnswer, type SentFile } from "./read-answer.ts";

const menu = [
  { id: 11, identifier: "MEAT", position: 2, answer: { en: "Meat", de: "Fleisch" } },
  { id: 12, identifier: "TOFU", position: 1, answer: { en: "Tofu" } },
  { id: 13, identifier: "11", position: 3, answer: { en: "Eleven", de: "Elf" } },
  { id: 14, identifier: "one, two", position: 4, answer: { en: "Both" } },
];

function question(type: QuestionType, fields: object = {}): Question {
  const resource = {
    id: 1,
    type,
    required: false,
    identifier: "Q1",
    options: type === "C" || type === "M" ? menu : [],
    dependency_question: null,
    dependency_values: [],
    valid_number_min: null,
    valid_number_max: null,
    valid_date_min: null,
    valid_date_max: null,
    valid_datetime_min: null,
    valid_datetime_max: null,
    valid_string_length_min: null,
    valid_string_length_max: null,
    ...fields,
  };
  return readQuestion(JSON.stringify(resource));
}

interface Circumstances {
  readonly locale?: string;
  readonly timezone?: string;
  readonly file?: SentFile;
}

function read(asked: Question, value: unknown, { locale = "en", timezone = "UTC", file }: Circumstances = {}) {
  return readAnswer(asked, { value, file: file ?? null }, readerOf(timezone, locale));
}

/** The text of the answer, or why there is none. */
function textOf(asked: Question, value: unknown, circumstances?: Circumstances): string {
  const reading = read(asked, value, circumstances);
  return typeof reading === "string" ? reading : `“${reading.text}”`;
}

const types: readonly QuestionType[] = ["N", "S", "T", "B", "C", "M", "F", "D", "H", "W", "CC", "TEL"];

describe("any question", () => {
  describe.each(types)("of type %s", (type) => {
    it.each([[""], [null], [undefined], [[]]])("[C5.5] is left empty by %j where it is optional", (value) => {
      expect(textOf(question(type), value)).toBe("empty");
      expect(textOf(question(type, { required: true }), value)).toBe("refused");
    });

    it("[C5.8] allows nothing that no store could hold, and no lists or objects where it asks for one thing", () => {
      const long = "1".repeat(64 * 1024 + 1);
      const odd = [
        "\0",
        "1\0",
        "\ud800",
        "1\udfff",
        long,
        { toString: "1" },
        Object.create({}) as object,
        [[]],
        [{}],
        [null],
        Number.POSITIVE_INFINITY,
        Number.NaN,
      ];
      for (const value of odd) expect(textOf(question(type), value)).toBe("refused");
    });
  });
});

describe("a number (N)", () => {
  it.each([
    ["3", "“3”"],
    ["3.24", "“3.24”"],
    ["3.240", "“3.240”"],
    ["  3.24\t", "“3.24”"],
    [3, "“3”"],
    [0, "“0”"],
    [-0, "“0”"],
    [2.5, "“2.5”"],
    [1e-7, "“0.0000001”"],
    ["0", "“0”"],
    ["-0.0", "“0.0”"],
    ["-1.50", "“-1.50”"],
    ["+7", "“7”"],
    ["007", "“7”"],
    [".5", "“0.5”"],
    ["5.", "“5”"],
    ["1e3", "“1000”"],
    ["12.5E-3", "“0.0125”"],
    ["1.2345e2", "“123.45”"],
    ["123456789012345678901234567890.123456789", "“123456789012345678901234567890.123456789”"],
    // A number of JSON has lost digits by then.
    [2 ** 53, "refused"],
    [1e99, "refused"],
    ["2,56", "refused"],
    ["1,234", "refused"],
    ["1 000", "refused"],
    ["--1", "refused"],
    [".", "refused"],
    ["e1", "refused"],
    ["1e999", "refused"],
    ["NaN", "refused"],
    ["Infinity", "refused"],
    ["0x10", "refused"],
    ["three", "refused"],
    ["   ", "refused"],
    [true, "refused"],
    ["1".repeat(101), "refused"],
  ])("[C5.6, C5.7, C5.9] is read from %j as %s", (value, expected) => {
    expect(textOf(question("N"), value)).toBe(expected);
  });

  it("[C5.6] is zero also where it is required", () => {
    expect(textOf(question("N", { required: true }), 0)).toBe("“0”");
  });

  it.each([
    ["de", "2,56", "“2.56”"],
    ["de-informal", " -2,50 ", "“-2.50”"],
    ["fr", ",5", "“0.5”"],
    ["de", "2.56", "“2.56”"],
    ["de", "1,234", "“1.234”"],
    ["de", "1.234,5", "refused"],
    ["de", "1,2,3", "refused"],
    ["de_AT", "2,56", "“2.56”"],
    ["de-CH", "2.56", "“2.56”"],
    ["de", "1,234.5", "refused"],
    ["ar-EG", "2.5", "“2.5”"],
    ["xx", "2,5", "refused"],
    ["not a locale", "2.5", "“2.5”"],
  ])("[C5.9] is written as the language of the event does: in %s %j is %s", (locale, value, expected) => {
    expect(textOf(question("N"), value, { locale })).toBe(expected);
  });

  it.each([
    ["1", "“1”"],
    ["1.0000000", "“1.0000000”"],
    ["0.99999999999999999999999999", "refused"],
    ["99999999999.0000000000000000001", "refused"],
    ["99999999999", "“99999999999”"],
    ["-1", "refused"],
    [0, "refused"],
  ])("[C5.10] from 1 to 99999999999, compared digit by digit: %j is %s", (value, expected) => {
    const limited = question("N", { valid_number_min: "1.000000", valid_number_max: "99999999999.000000" });
    expect(textOf(limited, value)).toBe(expected);
  });

  it.each([
    ["-0.3", "“-0.3”"],
    ["-0.30000001", "refused"],
    ["-0.1", "“-0.1”"],
    ["-0.09", "refused"],
  ])("[C5.10] from -0.3 to -0.1: %j is %s", (value, expected) => {
    const limited = question("N", { valid_number_min: "-0.300000", valid_number_max: "-0.100000" });
    expect(textOf(limited, value)).toBe(expected);
  });
});

describe.each(["S", "T"] as const)("a text (%s)", (type) => {
  it.each([
    ["  as it is\n", "“  as it is\n”"],
    [" ", "“ ”"],
    [42, "“42”"],
    [0, "“0”"],
    [true, "“True”"],
    [false, "“False”"],
    ["\u0001", "“\u0001”"],
    ["x".repeat(64 * 1024), `“${"x".repeat(64 * 1024)}”`],
  ])("[C5.7, C5.11] is kept to the letter: %j", (value, expected) => {
    expect(textOf(question(type), value)).toBe(expected);
  });

  it.each([
    ["ab", "“ab”"],
    ["abc", "“abc”"],
    ["a", "refused"],
    ["abcd", "refused"],
    ["😀😀😀", "“😀😀😀”"],
    ["😀", "refused"],
    // Two characters that look like one.
    ["e\u0301", "“e\u0301”"],
    ["\u00e9", "refused"],
    // A family is seven: four people and what joins them.
    ["👨‍👩‍👧‍👦", "refused"],
    [12, "“12”"],
    [1234, "refused"],
  ])("[C5.11] of two or three characters: %j is %s", (value, expected) => {
    expect(textOf(question(type, { valid_string_length_min: 2, valid_string_length_max: 3 }), value)).toBe(expected);
  });
});

describe("a yes or no (B)", () => {
  it.each([
    [true, "“True”", "“True”"],
    ["true", "“True”", "“True”"],
    ["True", "“True”", "“True”"],
    [false, "“False”", "refused"],
    ["false", "“False”", "refused"],
    ["False", "“False”", "refused"],
    ["TRUE", "“False”", "refused"],
    ["yes", "“False”", "refused"],
    [" true", "“False”", "refused"],
    [1, "“False”", "refused"],
    [0, "“False”", "refused"],
  ])("[C5.6, C5.7, C5.12] is read from %j as %s, where a yes is required as %s", (value, optional, required) => {
    expect(textOf(question("B"), value)).toBe(optional);
    expect(textOf(question("B", { required: true }), value)).toBe(required);
  });
});

/** The ids of the chosen options, in order. */
function chosen(type: "C" | "M", value: unknown): string {
  const reading = read(question(type), value);
  return typeof reading === "string" ? reading : reading.options.map(({ id }) => id).join();
}

describe("a choice of one (C)", () => {
  it.each([
    [12, "12"],
    ["12", "12"],
    ["TOFU", "12"],
    // An option has this for its identifier, but ids go first.
    ["11", "11"],
    ["one, two", "14"],
    ["tofu", "refused"],
    [" 12", "refused"],
    ["12,11", "refused"],
    [99, "refused"],
    [12.5, "refused"],
    [-12, "refused"],
    [0, "refused"],
    [true, "refused"],
    [[12], "refused"],
    [{ id: 12 }, "refused"],
    ["99999999999999999999", "refused"],
    ["__proto__", "refused"],
  ])("[C5.7, C5.13] takes %j for %s", (value, expected) => {
    expect(chosen("C", value)).toBe(expected);
  });

  it("[C5.15] is written in the language of the event, else in any available one", () => {
    expect(textOf(question("C"), 11, { locale: "de-informal" })).toBe("“Fleisch”");
    expect(textOf(question("C"), 12, { locale: "de" })).toBe("“Tofu”");
  });
});

describe("a choice of many (M)", () => {
  it.each([
    ["12", "12"],
    ["11,12", "12,11"],
    ["MEAT,12", "12,11"],
    [[11, "TOFU", "13"], "12,11,13"],
    [["one, two"], "14"],
    [12, "12"],
    ["11, 12", "refused"],
    [",12", "refused"],
    ["12,", "refused"],
    ["12,12", "refused"],
    ["12,TOFU", "refused"],
    [[12, 12], "refused"],
    ["12,99", "refused"],
    [[12, [11]], "refused"],
    [[12, true], "refused"],
    [[""], "refused"],
    [{ 0: 12, length: 1 }, "refused"],
    ["one, two", "refused"],
    [Array.from({ length: 100_000 }, () => 12), "refused"],
    ["12,".repeat(30_000), "refused"],
  ])("[C5.7, C5.14] takes %j for %s", (value, expected) => {
    expect(chosen("M", value)).toBe(expected);
  });

  it("[C5.15] is written in the order of the options", () => {
    expect(textOf(question("M"), "13,MEAT,12", { locale: "de" })).toBe("“Tofu, Fleisch, Elf”");
  });
});

describe("a file (F)", () => {
  const sha256 = "ab".repeat(32);
  const file = { upload: "2f9f…", name: "me.png", contentType: "image/png", size: 12, sha256 };

  it.each(["image/png", "image/jpeg", "image/gif", "application/pdf"])("[C5.16] may be of type %s", (contentType) => {
    const sent = { ...file, contentType };
    expect(read(question("F"), "file:2f9f…", { file: sent })).toEqual({
      text: `file:${contentType};12;${sha256}`,
      options: [],
      file: sent,
    });
  });

  it.each(["image/svg+xml", "text/html", ""])("[C5.16] may not be of type %j", (contentType) => {
    expect(textOf(question("F"), "file:2f9f…", { file: { ...file, contentType } })).toBe("refused");
  });

  it.each(["file:2f9f…", `file:image/png;12;${sha256}`, 7, true])("[C5.16] is not %j without an upload", (value) => {
    expect(textOf(question("F"), value)).toBe("refused");
  });

  it("[C5.16] answers no other question", () => {
    expect(read(question("S"), "file:2f9f…", { file })).toEqual({ text: "file:2f9f…", options: [], file: null });
    expect(textOf(question("C"), "file:2f9f…", { file })).toBe("refused");
  });
});

describe("a date (D)", () => {
  it.each([
    ["1990-05-17", "“1990-05-17”"],
    [" 1990-5-7 ", "“1990-05-07”"],
    ["1990/05/17", "“1990-05-17”"],
    ["19900517", "“1990-05-17”"],
    [19900517, "“1990-05-17”"],
    ["17.05.1990", "“1990-05-17”"],
    ["7. 5. 1990", "“1990-05-07”"],
    ["17 May 1990", "“1990-05-17”"],
    ["17-MAY-1990", "“1990-05-17”"],
    ["17. September 1990", "“1990-09-17”"],
    ["May 17, 1990", "“1990-05-17”"],
    ["Sept. 1st 1990", "“1990-09-01”"],
    ["Thursday, 17 May 1990", "“1990-05-17”"],
    ["1990-05-17T23:59:59Z", "“1990-05-17”"],
    ["1990-05-17 00:10:00-11:00", "“1990-05-17”"],
    ["2024-02-29", "“2024-02-29”"],
    ["2023-02-29", "refused"],
    ["1990-13-01", "refused"],
    ["1990-00-01", "refused"],
    ["31.04.1990", "refused"],
    ["17.05.90", "refused"],
    ["0000-01-01", "refused"],
    ["17 Mai 1990", "refused"],
    ["17 Mayonnaise 1990", "refused"],
    ["1990-05-17x", "refused"],
    ["1990-05-17 25:00", "refused"],
    ["1990-05-177", "refused"],
    ["tomorrow", "refused"],
    ["15:20", "refused"],
    [true, "refused"],
    [1990, "refused"],
  ])("[C5.17] is read from %j as %s", (value, expected) => {
    expect(textOf(question("D"), value)).toBe(expected);
  });

  it.each([
    ["en", "5/7/1990", "“1990-05-07”"],
    ["en-US", "05-07-1990", "“1990-05-07”"],
    ["en", "17/5/1990", "“1990-05-17”"],
    ["en", "7.5.1990", "“1990-05-07”"],
    ["en-GB", "5/7/1990", "“1990-07-05”"],
    ["de", "5/7/1990", "“1990-07-05”"],
    ["de", "5/17/1990", "“1990-05-17”"],
    ["fr", "17-05-1990", "“1990-05-17”"],
    ["xx", "5/7/1990", "“1990-07-05”"],
    ["ja", "5/7/1990", "“1990-07-05”"],
    ["en", "17/17/1990", "refused"],
    ["en", "2/29/2023", "refused"],
  ])("[C5.18] in %s %j is %s", (locale, value, expected) => {
    expect(textOf(question("D"), value, { locale })).toBe(expected);
  });

  it.each([
    ["2026-02-01", "“2026-02-01”"],
    ["28.02.2026", "“2026-02-28”"],
    ["2026-01-31", "refused"],
    ["2026-03-01", "refused"],
  ])("[C5.21] from the 1st to the 28th of February: %j is %s", (value, expected) => {
    const limited = question("D", { valid_date_min: "2026-02-01", valid_date_max: "2026-02-28" });
    expect(textOf(limited, value)).toBe(expected);
  });
});

describe("a time (H)", () => {
  it.each([
    ["18:30:00", "“18:30:00”"],
    ["18:30", "“18:30:00”"],
    [" 8:05 ", "“08:05:00”"],
    ["18:30:59.999", "“18:30:59”"],
    ["18.30", "“18:30:00”"],
    ["18h30", "“18:30:00”"],
    ["6:30 PM", "“18:30:00”"],
    ["6:30\u202fp.m.", "“18:30:00”"],
    ["6pm", "“18:00:00”"],
    ["12:00 am", "“00:00:00”"],
    ["12:15 pm", "“12:15:00”"],
    ["18:30Z", "“18:30:00”"],
    ["T18:30:00+02:00", "“18:30:00”"],
    ["2018-01-16T18:30:00+01:00", "“18:30:00”"],
    ["16.01.2018, 18:30", "“18:30:00”"],
    ["24:00", "refused"],
    ["18:60", "refused"],
    ["18:30:60", "refused"],
    ["18:3", "refused"],
    ["18", "refused"],
    [18, "refused"],
    ["13:00 pm", "refused"],
    ["0:30 am", "refused"],
    ["18:30+25:00", "refused"],
    ["2018-01-16", "refused"],
    ["noon", "refused"],
    ["18:30 tomorrow", "refused"],
  ])("[C5.19] is read from %j as %s", (value, expected) => {
    expect(textOf(question("H"), value)).toBe(expected);
  });
});

describe("a moment (W)", () => {
  const berlin = { timezone: "Europe/Berlin" };

  it.each([
    ["2018-01-16T15:20:00+01:00", "“2018-01-16 15:20:00+01:00”"],
    ["2018-01-16 15:20:00+01:00", "“2018-01-16 15:20:00+01:00”"],
    ["2030-01-02T07:15:00.000Z", "“2030-01-02 07:15:00+00:00”"],
    ["2018-01-16T15:20-0530", "“2018-01-16 15:20:00-05:30”"],
    ["2018-01-16T15:20:00 utc", "“2018-01-16 15:20:00+00:00”"],
    ["2018-01-16T15:20:00.25+01", "“2018-01-16 15:20:00.250000+01:00”"],
    ["2018-01-16T15:20:00.1234567Z", "“2018-01-16 15:20:00.123456+00:00”"],
    ["Tue, 16 Jan 2018 15:20:00 GMT", "“2018-01-16 15:20:00+00:00”"],
    ["1/16/2018, 3:20 PM", "“2018-01-16 15:20:00+01:00”"],
    ["16.01.2018 15:20", "“2018-01-16 15:20:00+01:00”"],
    ["2018-01-16", "“2018-01-16 00:00:00+01:00”"],
    ["15:20", "refused"],
    ["2018-01-16T24:00", "refused"],
    ["2018-02-29T15:20", "refused"],
    ["2018-01-16T15:20+99:00", "refused"],
    ["2018-01-16T15:20 CET", "refused"],
    ["0001-01-01T00:00+14:00", "refused"],
    ["9999-12-31T23:59:59-01:00", "refused"],
    [1516112400, "refused"],
    [false, "refused"],
  ])("[C5.20, C5.22] is read from %j as %s", (value, expected) => {
    expect(textOf(question("W"), value, berlin)).toBe(expected);
  });

  it.each([
    ["UTC", "2018-07-16T15:20:00", "“2018-07-16 15:20:00+00:00”"],
    ["Europe/Berlin", "2018-07-16T15:20:00", "“2018-07-16 15:20:00+02:00”"],
    ["Asia/Kathmandu", "2018-07-16 15:20", "“2018-07-16 15:20:00+05:45”"],
    ["America/New_York", "2018-07-16 15:20:00.5", "“2018-07-16 15:20:00.500000-04:00”"],
    ["Europe/Berlin", "1890-01-01T12:00", "“1890-01-01 12:00:00+00:53:28”"],
    // From two to three there is nothing that day.
    ["Europe/Berlin", "2026-03-29T01:59:59", "“2026-03-29 01:59:59+01:00”"],
    ["Europe/Berlin", "2026-03-29T02:30:00", "“2026-03-29 03:30:00+02:00”"],
    ["Europe/Berlin", "2026-03-29T03:00:00", "“2026-03-29 03:00:00+02:00”"],
    // From two to three there is everything twice.
    ["Europe/Berlin", "2026-10-25T02:30:00", "“2026-10-25 02:30:00+02:00”"],
    ["Europe/Berlin", "2026-10-25T02:30:00+01:00", "“2026-10-25 02:30:00+01:00”"],
    ["Europe/Berlin", "2026-10-25T03:00:00", "“2026-10-25 03:00:00+01:00”"],
    // The clocks skip half an hour, midnight, a whole day.
    ["Australia/Lord_Howe", "2026-10-04T02:15:00", "“2026-10-04 02:45:00+11:00”"],
    ["Africa/Cairo", "2026-04-24", "“2026-04-24 01:00:00+03:00”"],
    ["Pacific/Apia", "2011-12-30T12:00:00", "“2011-12-31 12:00:00+14:00”"],
  ])("[C5.22] is on the clock of %s where it names no offset: %s is %s", (timezone, value, expected) => {
    expect(textOf(question("W"), value, { timezone })).toBe(expected);
  });

  it.each([
    ["2026-06-01T00:00:00Z", "“2026-06-01 00:00:00+00:00”"],
    ["2026-06-01T02:00:00", "“2026-06-01 02:00:00+02:00”"],
    ["2026-06-01T01:59:59.999999", "refused"],
    ["2026-06-02T01:59:59.5+02:00", "“2026-06-02 01:59:59.500000+02:00”"],
    ["2026-06-02T01:59:59.500001+02:00", "refused"],
  ])("[C5.21] within its limits: %j is %s", (value, expected) => {
    const limits = { valid_datetime_min: "2026-06-01T00:00:00Z", valid_datetime_max: "2026-06-01T23:59:59.500000Z" };
    expect(textOf(question("W", limits), value, berlin)).toBe(expected);
  });

  it("[C5.21] may last as long as there are years", () => {
    const limited = question("W", { valid_datetime_max: "9999-12-31T23:59:59.999999Z" });
    expect(textOf(limited, "9999-12-31T23:59:59.999999Z")).toBe("“9999-12-31 23:59:59.999999+00:00”");
  });
});

describe("a country (CC)", () => {
  it.each([
    ["DE", "“DE”"],
    ["de", "“de”"],
    ["dE", "“dE”"],
    ["AQ", "“AQ”"],
    ["EU", "refused"],
    ["UK", "refused"],
    ["XX", "refused"],
    ["DEU", "refused"],
    [" DE", "refused"],
    ["Germany", "refused"],
    // Its upper case is IE.
    ["ıE", "refused"],
    ["ß", "refused"],
    [49, "refused"],
    [true, "refused"],
  ])("[C5.23] is read from %j as %s", (value, expected) => {
    expect(textOf(question("CC"), value)).toBe(expected);
  });

  it("[C5.23] is each of those that have a code of ISO 3166-1", () => {
    const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
    const codes = letters.flatMap((first) => letters.map((second) => first + second));
    const taken = codes.filter((code) => textOf(question("CC"), code) !== "refused");
    const names = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
    expect(taken).toHaveLength(249);
    expect(new Set(taken.map((code) => names.of(code))).size).toBe(249);
    expect(taken.every((code) => new Intl.Locale(`und-${code}`).region === code)).toBe(true);
  });
});

describe("a phone number (TEL)", () => {
  it.each(["+49 30 901820", "ask the front desk", " 110 "])("[C5.24] is kept to the letter: %j", (value) => {
    expect(textOf(question("TEL"), value)).toBe(`“${value}”`);
  });

  it("[C5.7, C5.24] may come as a number", () => {
    expect(textOf(question("TEL"), 110)).toBe("“110”");
  });
});

describe("a stored answer", () => {
  const accepted = (type: QuestionType, value: unknown, circumstances: Circumstances): string | undefined => {
    const reading = read(question(type), value, circumstances);
    return typeof reading === "string" ? undefined : reading.text;
  };
  const locales = constantFrom("en", "de", "fr", "ar", "xx");
  const zones = constantFrom("UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia", "Australia/Lord_Howe");
  const moments = date({
    min: new Date("0001-01-02T00:00:00Z"),
    max: new Date("9999-12-30T00:00:00Z"),
    noInvalidDate: true,
  });

  it("[C5.25] stays as it is when it is sent again: numbers", () => {
    const numbers = double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !isLarge(value));
    assert(
      property(numbers, locales, (value, locale) => {
        const text = accepted("N", value, { locale });
        if (text === undefined) expect(Math.abs(value)).toBeLessThan(1e-70);
        else expect(Number(text)).toBe(value === 0 ? 0 : value);
        expect(accepted("N", text, { locale })).toBe(text);
      }),
    );
  });

  it("[C5.25] stays as it is when it is sent again: typed numbers", () => {
    const typed = string({ unit: constantFrom(..."0123456789.,-+eE "), minLength: 1, maxLength: 110 });
    assert(
      property(typed, locales, (value, locale) => {
        const text = accepted("N", value, { locale });
        expect(accepted("N", text, { locale })).toBe(text);
        if (text !== undefined) expect(Number(text)).toBe(Number(value.trim().replace(",", ".")) + 0);
      }),
    );
  });

  it.each(["D", "H", "W"] as const)("[C5.25] stays as it is when it is sent again: type %s", (type) => {
    assert(
      property(moments, locales, zones, constantFrom(24, 23, 19, 16), (moment, locale, timezone, length) => {
        const text = accepted(type, moment.toISOString().slice(0, length), { locale, timezone });
        expect(text).toBeDefined();
        expect(accepted(type, text, { locale, timezone })).toBe(text);
      }),
    );
  });

  it("[C5.25] stays as it is when it is sent again: countries", () => {
    const codes = string({ unit: constantFrom(..."aBcDeFgIlMnOpRsTuVyZıß"), minLength: 2, maxLength: 2 });
    assert(
      property(codes, (value) => {
        const text = accepted("CC", value, {});
        expect(text === undefined || text === value).toBe(true);
        expect(accepted("CC", text, {})).toBe(text);
      }),
    );
  });

  it("[C5.25] is the same whether options are named by id or by the identifier that is stored", () => {
    for (const { id, identifier } of menu.filter((option) => option.identifier !== "11")) {
      expect(read(question("C"), identifier)).toEqual(read(question("C"), id));
      expect(read(question("M"), [identifier])).toEqual(read(question("M"), String(id)));
    }
  });
});

/** Of such numbers digits are lost in JSON. */
function isLarge(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}
