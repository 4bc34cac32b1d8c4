import { arrayOf, boolean, choice, decimal, id, instant, integer, object, text } from "@tessera/schema/build";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at, bodyOf, declare } from "../http/route.ts";
import { type ServedApp, serveApp } from "../testing/serve-app.ts";

const sample = object({
  at: instant(),
  price: decimal(),
  budget: decimal({ nullable: true }),
  count: integer(),
  active: boolean(),
  item: id(),
  quota: id({ nullable: true }),
  items: arrayOf(id()),
  name: text({ blank: false, maxLength: 5 }),
  tag: text({ nullable: true }),
  mode: choice(["none", "set"]),
});

/** Answers with what it has read. */
const echo = at(
  "POST",
  "/api/v1/echo/",
  declare({
    name: "echo",
    summary: "Answers with what it has read",
    access: { kind: "public" },
    body: bodyOf(sample),
    answers: { ok: { description: "What was read." } },
    handle: async ({ body }) => ({ status: "ok", body }),
  }),
);

let app: ServedApp;
beforeAll(async () => {
  app = await serveApp({ routes: (routes) => [...routes, echo] });
});
afterAll(() => app.close());

type Case = readonly [field: string, sent: unknown, read: unknown];

async function expectRead(field: string, sent: unknown, read: unknown): Promise<void> {
  expect(await app.send("POST", "/api/v1/echo/", { body: { [field]: sent } })).toMatchObject({
    status: 200,
    json: { [field]: read },
  });
}

async function expectRefused(field: string, sent: unknown): Promise<void> {
  const { status, json } = await app.send("POST", "/api/v1/echo/", { body: { [field]: sent } });
  expect([status, json]).toEqual([400, { [field]: [expect.any(String)] }]);
}

const noon = Date.UTC(2024, 0, 31, 12) * 1000;

describe("a datetime", () => {
  it.each<Case>([
    ["at", "2024-01-31T12:00:00Z", noon],
    ["at", "2024-01-31 12:00:00Z", noon],
    ["at", "2024-01-31T13:30+01:30", noon],
    ["at", "2024-01-31T07:00:00-05:00", noon],
    ["at", "2024-01-31T12:00:00.1234567Z", noon + 123_456],
    ["at", "2024-01-31T12:00:00.123456789+00:00", noon + 123_456],
    ["at", "9999-12-31T23:59:59Z", 253_402_300_799_000_000],
    ["at", "9999-12-31T23:59:59.999999Z", 253_402_300_799_000_000],
    ["at", "2256-01-01T00:00:00Z", Date.UTC(2256, 0) * 1000],
    ["at", "0001-01-01", -62_135_596_800_000_000],
  ])("[A9.3] %s: reads %j", expectRead);

  it.each<Case>([
    ["at", "2024-01-31T12:00", noon],
    ["at", "2024-01-31 12:00:00", noon],
  ])("[A9.4] %s: reads %j in UTC", expectRead);

  it.each<Case>([
    ["at", "2024-01-31T12:00:00.000001Z", noon + 1],
    ["at", "2024-01-31T12:00:00.999999Z", noon + 999_999],
    ["at", "2024-01-31T12:00:00.5Z", noon + 500_000],
  ])("[A9.5] %s: reads %j to the microsecond", expectRead);

  it.each([
    ["at", ""],
    ["at", 5],
    ["at", noon],
    ["at", "2024-02-30T12:00:00Z"],
    ["at", "2023-02-29"],
    ["at", "2024-01-31T24:00:00Z"],
    ["at", "31.01.2024 12:00"],
    ["at", "tomorrow"],
  ])("[A9.6] %s: refuses %j", expectRefused);
});

describe("a decimal", () => {
  it.each<Case>([
    ["price", 12, "12.00"],
    ["price", 12.5, "12.50"],
    ["price", "12", "12.00"],
    ["price", "-0.01", "-0.01"],
    ["price", "1e3", "1000.00"],
    ["budget", null, null],
  ])("[A9.7] %s: reads %j as %j", expectRead);

  it.each([
    ["price", "NaN"],
    ["price", "Infinity"],
    ["price", true],
    ["price", "1,5"],
    ["price", "1.000,50"],
    ["price", ""],
    ["price", "twelve"],
  ])("[A9.8] %s: refuses %j", expectRefused);

  it.each([
    ["price", "1.234"],
    ["price", "12.000"],
    ["price", 0.001],
    ["price", "123456789012.00"],
    ["price", "1e12"],
  ])("[A9.9] %s: refuses %j, which has too many digits", expectRefused);

  it.each<Case>([
    ["price", "99999999999.99", "99999999999.99"],
    ["price", "-99999999999.99", "-99999999999.99"],
  ])("[A9.9] %s: reads %j, which has 13 digits", expectRead);

  it.each<Case>([["budget", "", null]])("[A9.10] %s: reads %j as %j", expectRead);
});

describe("an integer", () => {
  it.each<Case>([
    ["count", 3, 3],
    ["count", "3", 3],
    ["count", "3.0", 3],
    ["count", " -3 ", -3],
  ])("[A9.11] %s: reads %j", expectRead);

  it("[A9.11] is read from 3.0", async () => {
    const headers = { "content-type": "application/json" };
    const { json } = await app.send("POST", "/api/v1/echo/", { headers, body: '{"count": 3.0}' });
    expect(json).toEqual({ count: 3 });
  });

  it.each([
    ["count", 3.5],
    ["count", "3.5"],
    ["count", true],
    ["count", ""],
    ["count", "three"],
    ["count", [3]],
  ])("[A9.12] %s: refuses %j", expectRefused);
});

describe("a boolean", () => {
  it.each<Case>([
    ...[true, 1, "1", "t", "Y", "yes", "TRUE", "on"].map((sent) => ["active", sent, true] as const),
    ...[false, 0, "0", "f", "N", "no", "False", "OFF"].map((sent) => ["active", sent, false] as const),
  ])("[A9.13] %s: reads %j as %j", expectRead);

  it.each([null, "", "maybe", 2, "2", [], {}].map((sent) => ["active", sent] as const))(
    "[A9.14] %s: refuses %j",
    expectRefused,
  );
});

describe("an id", () => {
  it.each<Case>([
    ["item", 7, 7],
    ["item", "7", 7],
    ["items", [7, "8"], [7, 8]],
  ])("[A9.15] %s: reads %j", expectRead);

  it.each<Case>([["quota", "", null]])("[A9.16] %s: reads %j as %j", expectRead);

  it.each([
    ["item", true],
    ["item", { id: 7 }],
    ["item", 7.5],
    ["item", "7.5"],
    ["item", ""],
    ["item", 0],
    ["quota", false],
  ])("[A9.17] %s: refuses %j", expectRefused);
});

describe("a text", () => {
  it.each<Case>([
    ["name", "  a b\t", "a b"],
    ["tag", "   ", ""],
  ])("[A9.18] %s: trims %j", expectRead);

  it.each<Case>([
    ["name", 7, "7"],
    ["name", 1.5, "1.5"],
  ])("[A9.19] %s: reads %j as %j", expectRead);

  it.each([true, [], ["a"], {}].map((sent) => ["name", sent] as const))("[A9.20] %s: refuses %j", expectRefused);

  it.each(["at", "price", "count", "active", "item", "items", "name", "mode"].map((field) => [field, null] as const))(
    "[A9.21] %s: refuses %j",
    async (field, sent) => {
      const { status, json } = await app.send("POST", "/api/v1/echo/", { body: { [field]: sent } });
      expect([status, Object.keys(json as object)]).toEqual([400, [field]]);
    },
  );

  it.each<Case>([["tag", null, null]])("[A9.21] %s: reads %j", expectRead);

  it.each<Case>([
    ["name", "ÄÖÜß€", "ÄÖÜß€"],
    ["name", "🎟🎟🎟🎟🎟", "🎟🎟🎟🎟🎟"],
  ])("[A9.22] %s: counts the characters of %j", expectRead);

  it.each([
    ["name", "123456"],
    ["name", "🎟🎟🎟🎟🎟🎟"],
  ])("[A9.22] %s: refuses %j, which is longer", expectRefused);

  it.each([
    ["name", "a\u0000b"],
    ["tag", "\ud800"],
    ["mode", "none\u0000"],
  ])("[A9.23] %s: refuses %j", expectRefused);

  it.each([
    ["mode", "subtract"],
    ["mode", "None"],
    ["mode", ""],
    ["mode", 1],
  ])("[A9.24] %s: refuses %j", expectRefused);

  it.each([
    ["name", ""],
    ["name", "  "],
  ])("[A9.25] %s: refuses %j, which is blank", expectRefused);
});

describe("a form", () => {
  const send = (body: string) =>
    app.send("POST", "/api/v1/echo/", { headers: { "content-type": "application/x-www-form-urlencoded" }, body });

  it("[A4.10, A4.13] is percent-encoded UTF-8: what is not is refused instead of changed", async () => {
    for (const body of [
      "name=T%FCr",
      "name=a&t%FCr=1",
      "name=%C3",
      "name=%C3&tag=%BC",
      "name=%ED%A0%80",
      "name=%EF%BF%BD%FC",
    ]) {
      const { status, json } = await send(body);
      expect([status, json], body).toEqual([400, { detail: expect.any(String) }]);
    }
    expect((await send("name=T%c3%BCr&tag=100%+%zz")).json).toMatchObject({ name: "Tür", tag: "100% %zz" });
    expect((await send("name=\ufffd%EF%bf%BD")).json).toMatchObject({ name: "\ufffd\ufffd" });
  });
});
