import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { amounts, cldrAmounts } from "../../testing/cldr-amounts.ts";
import { at } from "../../testing/print-ticket.ts";
import { formatPhone } from "./format-phone.ts";
import { Formats } from "./formats.ts";
import { readDay, readTime, toLocalTime } from "./local-time.ts";
import { readLocale } from "./locale.ts";

const formats = new Formats();
const inLocale = (name: string, region: string | null = null) => formats.of(name, region);
const local = (text: string, zone = "UTC") => toLocalTime(at(text), zone);
const moment = local("2025-12-27T20:05:00Z");

describe("locales", () => {
  it.each([
    ["de", null, "de"],
    ["de", "AT", "de-AT"],
    ["de", "at", "de-AT"],
    ["de-informal", "AT", "de-AT"],
    ["de-formal", null, "de"],
    ["pt-br", "PT", "pt-BR"],
    ["pt_BR", null, "pt-BR"],
    ["zh-hans", null, "zh-Hans"],
    ["zh-hant", "TW", "zh-Hant-TW"],
    ["es", "419", "es-419"],
    ["EN", "us", "en-US"],
    ["en", "Bavaria", "en"],
    ["en", "", "en"],
    ["", "DE", "en-DE"],
    ["x", null, "en"],
    ["de\0", null, "en"],
    ["-", null, "en"],
    ["a-b-c-d-e-f", null, "en"],
    [`de${"-x".repeat(1000)}`, null, "de"],
  ])("[L17.1] %j in the region %j is %s", (name, region, tag) => {
    expect(readLocale(name, region).tag).toBe(tag);
  });

  it("[L17.2] without data are written as English, whatever the machine speaks", () => {
    expect(inLocale("xx").money("1234.50", "EUR")).toBe("€1,234.50");
    expect(inLocale("xx").dates.weekday(moment)).toBe("Saturday");
    expect(inLocale("xx").words.yes).toBe("Yes");
    expect(readLocale("tlh-DE", null).tag).toBe("en-DE");
  });

  it("[L17.3] write digits and years as in Europe", () => {
    for (const name of ["ar", "ar-eg", "fa", "th", "my", "ne", "ar-sa", "ja"]) {
      expect(inLocale(name).dates.shortDate(moment)).toMatch(/2025/);
      expect(inLocale(name).money("1234.50", "EUR")).toMatch(/1[^0-9]?234[^0-9]50/);
    }
  });
});

describe("dates", () => {
  it.each([
    ["en", null, "Dec. 27, 2025", "2025-12-27", "2025-12-27 20:05", "20:05"],
    ["en", "DE", "Dec. 27, 2025", "2025-12-27", "2025-12-27 20:05", "20:05"],
    ["en", "US", "Dec. 27, 2025", "12/27/2025", "12/27/2025 8:05 p.m.", "8:05 p.m."],
    ["en-us", null, "Dec. 27, 2025", "12/27/2025", "12/27/2025 8:05 p.m.", "8:05 p.m."],
    ["en", "GB", "27 Dec 2025", "27/12/2025", "27/12/2025 8:05 p.m.", "8:05 p.m."],
    ["en", "IE", "27 Dec 2025", "27/12/2025", "27/12/2025 20:05", "20:05"],
    ["en", "CA", "27 Dec 2025", "2025-12-27", "2025-12-27 8:05 p.m.", "8:05 p.m."],
    ["de", null, "27. Dezember 2025", "27.12.2025", "27.12.2025 20:05", "20:05"],
    ["de-informal", "AT", "27. Dezember 2025", "27.12.2025", "27.12.2025 20:05", "20:05"],
    ["fr", null, "27 décembre 2025", "27/12/2025", "27/12/2025 20:05", "20:05"],
    ["fr", "CH", "27 décembre 2025", "27.12.2025", "27.12.2025 20:05", "20:05"],
    ["fr", "CA", "27 décembre 2025", "2025-12-27", "2025-12-27 20\u00a0h\u00a005", "20\u00a0h\u00a005"],
    ["nl", null, "27 december 2025", "27-12-2025", "27-12-2025 20:05", "20:05"],
    ["nl", "BE", "27 december 2025", "27-12-2025", "27-12-2025 20:05", "20:05"],
    ["es", null, "27 de diciembre de 2025", "27/12/2025", "27/12/2025 20:05", "20:05"],
    ["it", null, "27 dicembre 2025", "27/12/2025", "27/12/2025 20:05", "20:05"],
    ["pl", null, "27 grudnia 2025", "27.12.2025", "27.12.2025 20:05", "20:05"],
    ["sv", null, "27 december 2025", "2025-12-27", "2025-12-27 20:05", "20:05"],
    ["ja", null, "2025年12月27日", "2025/12/27", "2025/12/27 20:05", "20:05"],
    ["zh-hans", null, "2025年12月27日", "2025/12/27", "2025/12/27 20:05", "20:05"],
    ["ru", null, "27 декабря 2025 г.", "27.12.2025", "27.12.2025 20:05", "20:05"],
    ["pt-br", null, "27 de dezembro de 2025", "27/12/2025", "27/12/2025 20:05", "20:05"],
  ])("[L18.1] in %s of %j are %s", (name, region, date, shortDate, shortDateTime, time) => {
    const { dates } = inLocale(name, region);
    expect([dates.date(moment), dates.shortDate(moment), dates.shortDateTime(moment), dates.time(moment)]).toEqual([
      date,
      shortDate,
      shortDateTime,
      time,
    ]);
  });

  it("[L18.2] shorten English months as newspapers do", () => {
    const months = Array.from({ length: 12 }, (_, month) =>
      local(`2025-${String(month + 1).padStart(2, "0")}-01T00:00:00Z`),
    );
    expect(months.map((month) => inLocale("en").dates.date(month).split(" ")[0])).toEqual([
      "Jan.",
      "Feb.",
      "March",
      "April",
      "May",
      "June",
      "July",
      "Aug.",
      "Sept.",
      "Oct.",
      "Nov.",
      "Dec.",
    ]);
    expect(inLocale("en", "GB").dates.date(local("2025-09-05T00:00:00Z"))).toBe("5 Sep 2025");
    expect(inLocale("nl").dates.shortDate(local("2025-03-05T00:00:00Z"))).toBe("5-3-2025");
  });

  it.each([
    ["00:00", "midnight"],
    ["00:01", "12:01 a.m."],
    ["08:00", "8 a.m."],
    ["11:59", "11:59 a.m."],
    ["12:00", "noon"],
    ["12:30", "12:30 p.m."],
    ["20:00", "8 p.m."],
    ["23:59", "11:59 p.m."],
  ])("[L18.3] write %s as %s on a clock of twelve hours", (time, expected) => {
    expect(inLocale("en-us").dates.time(local(`2025-01-01T${time}:00Z`))).toBe(expected);
  });

  it.each([
    ["en", "Saturday"],
    ["de", "Samstag"],
    ["fr", "samedi"],
    ["nl", "zaterdag"],
    ["es", "sábado"],
    ["ar", "السبت"],
    ["zh-hant", "星期六"],
  ])("[L18.4] name the day of the week in %s", (name, expected) => {
    expect(inLocale(name).dates.weekday(moment)).toBe(expected);
  });

  it.each([
    ["en", null, "2025-12-27", "2025-12-27", "Sat, Dec. 27, 2025"],
    ["en", null, "2025-12-27", "2025-12-30", "Dec. 27 – 30, 2025"],
    ["en", null, "2025-11-30", "2025-12-02", "Nov. 30 – Dec. 2, 2025"],
    ["en", null, "2025-12-30", "2026-01-02", "Dec. 30, 2025 – Jan. 2, 2026"],
    ["en", "US", "2025-12-27", "2025-12-30", "Dec. 27 – 30, 2025"],
    ["de", null, "2025-12-27", "2025-12-27", "Sa, 27. Dezember 2025"],
    ["de", "AT", "2025-12-27", "2025-12-30", "27.–30. Dezember 2025"],
    ["de", null, "2025-11-30", "2025-12-02", "30. November – 2. Dezember 2025"],
    ["de", null, "2025-12-30", "2026-01-02", "30. Dezember 2025 – 2. Januar 2026"],
    ["es", null, "2025-12-27", "2025-12-27", "27 de diciembre de 2025"],
    ["es", null, "2025-12-27", "2025-12-30", "27 - 30 de diciembre de 2025"],
    ["es", null, "2025-11-30", "2025-12-02", "30 de noviembre - 2 de diciembre de 2025"],
    ["fr", null, "2025-12-27", "2025-12-27", "27 décembre 2025"],
    ["fr", null, "2025-12-27", "2025-12-30", "27 décembre 2025 – 30 décembre 2025"],
    ["it", null, "2025-12-27", "2025-12-30", "27 dicembre 2025 – 30 dicembre 2025"],
    ["en", null, "2025-12-30", "2025-12-27", "Dec. 30 – 27, 2025"],
  ])("[L18.5] in %s of %j from %s to %s are %s", (name, region, from, to, expected) => {
    const [first, last] = [local(`${from}T20:00:00Z`), local(`${to}T22:00:00Z`)];
    expect(inLocale(name, region).dates.dateRange(first, last)).toBe(expected);
  });
});

describe("clocks", () => {
  const clock = (text: string, zone: string) => inLocale("en").dates.shortDateTime(local(text, zone));

  it.each([
    ["the hour before clocks go forward", "2025-03-30T00:59:59Z", "Europe/Berlin", "2025-03-30 01:59"],
    ["the hour after it", "2025-03-30T01:00:00Z", "Europe/Berlin", "2025-03-30 03:00"],
    ["the first of two equal hours", "2025-10-26T00:30:00Z", "Europe/Berlin", "2025-10-26 02:30"],
    ["the second of them", "2025-10-26T01:30:00Z", "Europe/Berlin", "2025-10-26 02:30"],
    ["a zone of a quarter of an hour", "2025-01-01T00:00:00Z", "Asia/Kathmandu", "2025-01-01 05:45"],
    ["the day that a zone left out", "2011-12-30T10:00:00Z", "Pacific/Apia", "2011-12-31 00:00"],
    ["the first moment", "0001-01-01T00:00:00Z", "UTC", "0001-01-01 00:00"],
    ["the last moment", "9999-12-31T23:59:59.999999Z", "UTC", "9999-12-31 23:59"],
    ["a fraction before 1970", "1969-12-31T23:59:59.999999Z", "UTC", "1969-12-31 23:59"],
  ])("[L18.6] show %s", (_name, text, zone, expected) => {
    expect(clock(text, zone)).toBe(expected);
  });

  it("[L18.6] may show years before the first and behind the last", () => {
    expect(clock("0001-01-01T00:00:00Z", "America/New_York")).toMatch(/^0000-12-31/);
    expect(clock("9999-12-31T23:59:59Z", "Asia/Tokyo")).toMatch(/^10000-01-01/);
  });

  it("are refused for an unknown zone", () => {
    expect(() => toLocalTime(0, "Nowhere/Land")).toThrow(RangeError);
  });

  it("[L18.7] read days and times, and nothing else", () => {
    expect(readDay("2024-02-29")).toMatchObject({ year: 2024, month: 2, day: 29, weekday: 4 });
    expect(readDay("0001-01-01")).toMatchObject({ year: 1, month: 1, day: 1 });
    for (const text of ["2025-02-29", "2025-13-01", "2025-00-10", "2025-1-1", "20250101", "", "２０２５-01-01"]) {
      expect(readDay(text)).toBeUndefined();
    }
    expect(readTime("23:59:59.5")).toMatchObject({ hour: 23, minute: 59 });
    for (const text of ["24:00", "1:00", "12:60", "noon", "", "12:00+01:00"]) expect(readTime(text)).toBeUndefined();
  });
});

describe("money", () => {
  /** Other libraries leave out the space after a code, and write simpler signs and apostrophes. */
  const plain = (text: string) =>
    text
      .replaceAll("\u2212", "-")
      .replaceAll("\u200e", "")
      .replaceAll("’", "'")
      .replaceAll(/(?<=[A-Z]{3})\u00a0(?=[0-9])/g, "");

  it.each(Object.entries(cldrAmounts))("[L19.1] in %s is as CLDR says", (name, expected) => {
    const written = amounts.map(([amount, currency]) => plain(inLocale(name).money(amount, currency)));
    expect(written).toEqual(expected.map(plain));
  });

  it.each([
    ["en", null, "23.00", "EUR", "€23.00"],
    ["en", null, "1234.50", "EUR", "€1,234.50"],
    ["en", "DE", "23.00", "EUR", "23,00\u00a0€"],
    ["de", null, "23.00", "EUR", "23,00\u00a0€"],
    ["de", null, "1234.50", "EUR", "1.234,50\u00a0€"],
    ["de", "AT", "23.00", "EUR", "€\u00a023,00"],
    ["nl", null, "23.00", "EUR", "€\u00a023,00"],
    ["fr", null, "1234.50", "EUR", "1\u202f234,50\u00a0€"],
    ["en", null, "1500.00", "JPY", "¥1,500"],
    ["en", null, "23.00", "CHF", "CHF\u00a023.00"],
    ["hu", null, "1500.00", "HUF", "1\u00a0500,00\u00a0Ft"],
    ["en", null, "1.500", "KWD", "KWD\u00a01.500"],
    ["pl", null, "1234.50", "PLN", "1\u00a0234,50\u00a0zł"],
  ])("[L19.2] in %s of %j of %s %s is %s", (name, region, amount, currency, expected) => {
    expect(inLocale(name, region).money(amount, currency)).toBe(expected);
  });

  it("[L19.3] is never rounded", () => {
    expect(inLocale("en").money("1500.50", "JPY")).toBe("¥1,500.50");
    expect(inLocale("en").money("0.005", "EUR")).toBe("€0.005");
    expect(inLocale("en").money("99999999999999999999.99", "EUR")).toBe("€99,999,999,999,999,999,999.99");
    const digits = fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 30n }), fc.integer({ min: 0, max: 99 }));
    fc.assert(
      fc.property(digits, ([whole, cents]) => {
        const amount = `${whole}.${String(cents).padStart(2, "0")}`;
        expect(inLocale("en").money(amount, "EUR").replaceAll(/[€,]/g, "")).toBe(amount);
      }),
    );
  });

  it("[L19.4] of what is no currency has its word before it", () => {
    expect(inLocale("de").money("23.00", "€€€")).toBe("€€€ 23.00");
    expect(inLocale("en").money("23.00", "xyz")).toBe("XYZ\u00a023.00");
    expect(() => inLocale("en").money("many", "EUR")).toThrow("no decimal");
    expect(() => inLocale("en").money("NaN", "EUR")).toThrow("no decimal");
  });
});

describe("countries, phones and words", () => {
  it("[L20.1] name countries in the language, and leave what is no code", () => {
    expect([inLocale("en").country("DE"), inLocale("de").country("de"), inLocale("ja").country("DE")]).toEqual([
      "Germany",
      "Deutschland",
      "ドイツ",
    ]);
    expect(["", "D", "DEU", "Ω1", "ſs"].map((code) => inLocale("en").country(code))).toEqual([
      "",
      "D",
      "DEU",
      "Ω1",
      "ſs",
    ]);
    expect(inLocale("en").country("QQ")).toBe("QQ");
  });

  it.each([
    ["+4930123456", "+49 30 123456"],
    ["+1 (213) 373-4253", "+1 213 373 4253"],
    ["+390612345678", "+39 06 1234 5678"],
    ["030 123456", "030 123456"],
    ["anything", "anything"],
    ["", ""],
    [`+49${"9".repeat(500)}`, `+49${"9".repeat(500)}`],
  ])("[L20.2] write the phone number %s as %s", (phone, expected) => {
    expect(formatPhone(phone)).toBe(expected);
  });

  it("[L20.3] have words of the platform in more than twenty languages", () => {
    const languages =
      "en de fr es nl it pt pl cs da sv fi nb no nn tr el ru uk ar he ja zh zh-hant ko hu ro bg hr sk sl ca id vi th";
    for (const name of languages.split(" ")) {
      const { yes, no, row, seat, generalAdmission } = inLocale(name).words;
      expect([yes, no, generalAdmission].every((word) => word.trim().length > 0)).toBe(true);
      expect([row, seat].every((phrase) => phrase.split("#").length === 2)).toBe(true);
      if (!name.startsWith("en")) expect(generalAdmission).not.toBe("General admission");
    }
    expect(inLocale("zh-tw").words.seat).toBe(inLocale("zh-hant").words.seat);
    expect(inLocale("constructor").words.yes).toBe("Yes");
  });
});

describe("formats that serve many tickets", () => {
  it("are remembered, and forgotten before there are too many", () => {
    const shared = new Formats();
    expect(shared.of("de", "AT")).toBe(shared.of("de", "AT"));
    const first = shared.of("de", null);
    for (let number = 0; number < 500; number += 1) shared.of(`de-${number}`, null);
    expect(shared.of("de", null)).not.toBe(first);
    expect(shared.localTime(0, "UTC")).toBe(shared.localTime(0, "UTC"));
  });
});
