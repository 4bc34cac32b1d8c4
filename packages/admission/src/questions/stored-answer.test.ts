import { assert, constantFrom, date, double, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { type Circumstances, menu, question, read } from "../testing/read-answers.ts";
import type { QuestionType } from "./question.ts";

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

/** JSON loses digits of numbers this large. */
function isLarge(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}
