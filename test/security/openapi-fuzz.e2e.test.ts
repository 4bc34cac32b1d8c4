import { randomInt } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  apiKey,
  deviceKey,
  eventPath,
  groundwork,
  listData,
  ofEvent,
  orderData,
  positionData,
} from "../e2e/sample-records.ts";
import { type Answer, startTestPlatform, type TestPlatform } from "../e2e/test-platform.ts";

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly Json[];
  readonly format?: string;
  readonly maxLength?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
}

interface Operation {
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface Shot {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  /** What the body is, where it is JSON. */
  readonly sent: Json | undefined;
}

const runs = 1500;
const seconds = 45;
/** Longer than any answer here should take, however strange the question. */
const slowMs = 3000;

const whole = /^\/api\/v1\/organizers\/\{organizer\}\/events\/\{event\}/;

/** Texts that break what forgets about them. None holds NUL or half a pair; those are beside them. */
const oddTexts = [
  "",
  " ",
  "0",
  "1",
  "-1",
  "1e3",
  "1.0",
  "null",
  "true",
  "NaN",
  "__proto__",
  "constructor",
  "%",
  "%00",
  "_",
  "'",
  '"',
  "\\",
  "/",
  "..",
  "a\nb",
  "\u{202e}",
  "\u{feff}",
  "\u{1f600}".repeat(190),
  "İ".repeat(190),
  "x".repeat(191),
  "x".repeat(5000),
  "2027-01-01T00:00:00.123456Z",
  "2027-01-01 00:00+05:30",
  "9999-12-31T23:59:59Z",
  "0001-01-01",
];
const badTexts = ["a\u0000b", "\u0000", "\ud800", "b\udfff"];
const oddNumbers = [0, -0, 1, 2, 0.5, -1, 1e21, 2 ** 31, 2 ** 50, 2 ** 50 + 2, 2 ** 53, 2 ** 63, 1e308, 5e-324];

const text = (maxLength = 300) =>
  fc.oneof(
    fc.string({ unit: "grapheme", maxLength: Math.min(maxLength, 300) }),
    fc.constantFrom(...oddTexts).map((odd) => [...odd].slice(0, maxLength).join("")),
  );

const instant = fc
  .tuple(fc.date({ min: new Date("1690-01-01"), max: new Date("2250-01-01"), noInvalidDate: true }), fc.nat(999))
  .map(([date, micros]) => date.toISOString().replace("Z", `${String(micros).padStart(3, "0")}Z`));

const anything: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(...oddTexts, ...badTexts, ...oddNumbers, null, true, false, [], {}, [[]], [null], { a: 1 }),
  fc.jsonValue() as fc.Arbitrary<Json>,
  fc.constant(null).map(() => Array.from({ length: 2000 }, () => 0)),
  fc.constant(null).map(() => JSON.parse(`${"[".repeat(200)}${"]".repeat(200)}`) as Json),
  fc.constant(null).map(() => JSON.parse('{"__proto__": {"name": "x"}, "constructor": 1}') as Json),
);

describe("whatever is sent", () => {
  let platform: TestPlatform;
  let document: Document;

  beforeAll(async () => {
    platform = await startTestPlatform({ transport: "inprocess" });
    const answer = await platform.import([
      ...groundwork(),
      ...Array.from({ length: 60 }, (_, index) =>
        ofEvent(
          "order",
          orderData({
            code: `FUZZ${index}`,
            positions: [positionData({ id: index + 1, secret: `fuzz-${index + 1}` })],
          }),
        ),
      ),
      ofEvent("checkin_list", listData()),
      ofEvent("checkin_list", listData({ id: 2, name: "Other", all_products: false, limit_products: [2] })),
    ]);
    expect(answer).toMatchObject({ rejected: 0, settled: true });
    document = (await platform.request("GET", "/api/v1/openapi.json")).body as Document;
    platform.keepOutOfLogs(apiKey, deviceKey, "Zwiebelhuber");
  });
  afterAll(() => platform.stop());

  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined
      ? schema
      : resolve(document.components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {});

  /** Values that the document allows. */
  function valid(named: Schema): fc.Arbitrary<Json> {
    const schema = resolve(named);
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    const types = [schema.type ?? []].flat();
    if (types.length === 0) return fc.constantFrom<Json>({}, [], true, "", { and: [] });
    const kinds: fc.Arbitrary<Json>[] = types.map((type): fc.Arbitrary<Json> => {
      switch (type) {
        case "null":
          return fc.constant(null);
        case "boolean":
          return fc.boolean();
        case "integer":
          return fc.oneof(fc.constantFrom(1, 2, 7), fc.integer());
        case "string":
          return schema.format === "date-time" ? instant : text(schema.maxLength);
        case "array":
          return fc.array(valid(schema.items ?? {}), { maxLength: 4 });
        default:
          return validObject(schema);
      }
    });
    return fc.oneof(...kinds);
  }

  function validObject({ properties = {}, additionalProperties }: Schema): fc.Arbitrary<Json> {
    const entries = Object.entries(properties).map(([name, schema]) => [name, valid(schema)] as const);
    if (entries.length === 0 && typeof additionalProperties === "object")
      return fc.dictionary(text(20), valid(additionalProperties), { maxKeys: 4 });
    return fc.record(Object.fromEntries(entries), { requiredKeys: properties["name"] === undefined ? [] : ["name"] });
  }

  /** The same with one field that is anything. */
  const almost = (schema: Schema): fc.Arbitrary<Json> => {
    const fields = Object.keys(resolve(schema).properties ?? {});
    return fc
      .tuple(valid(schema), fc.constantFrom(...fields, "unknown", "__proto__"), anything)
      .map(([value, field, other]) => ({ ...(value as Record<string, Json>), [field]: other }));
  };

  function bodies(schema: Schema): fc.Arbitrary<Pick<Shot, "body" | "sent" | "headers">> {
    const json = { "content-type": "application/json" };
    const asJson = (sent: Json) => ({ headers: json, body: JSON.stringify(sent), sent });
    const raw = (body: string | Uint8Array, headers: Record<string, string> = json) => ({
      headers,
      body,
      sent: undefined,
    });
    return fc.oneof(
      { weight: 4, arbitrary: valid(schema).map(asJson) },
      { weight: 4, arbitrary: almost(schema).map(asJson) },
      { weight: 1, arbitrary: anything.map(asJson) },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => raw(bytes)) },
      {
        weight: 1,
        arbitrary: fc.tuple(valid(schema), fc.nat(60)).map(([value, at]) => raw(JSON.stringify(value).slice(0, at))),
      },
      {
        weight: 1,
        arbitrary: fc
          .array(fc.tuple(fc.constantFrom("name", "type", "limit_products", "rules", "__proto__", "force"), text(30)))
          .map((pairs) =>
            raw(new URLSearchParams(pairs).toString(), { "content-type": "application/x-www-form-urlencoded" }),
          ),
      },
      {
        weight: 1,
        arbitrary: fc
          .constantFrom("text/plain", "application/jsonp", "multipart/form-data; boundary=x", "", "a/b;c")
          .map((type) => raw("{}", { "content-type": type })),
      },
      {
        weight: 1,
        arbitrary: fc.constantFrom('{"name":1e400}', '{"name":"a","name":{}}', "\ufeff{}").map((body) => raw(body)),
      },
    );
  }

  const pathValue = (name: string): fc.Arbitrary<string> => {
    const likely =
      name === "lookup" ? fc.integer({ min: 1, max: 60 }).map((id) => `fuzz-${id}`) : fc.constantFrom("1", "2");
    return fc.oneof(
      { weight: 6, arbitrary: likely.map(encodeURIComponent) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 70 }).map(String) },
      { weight: 1, arbitrary: text(50).map((odd) => encodeURIComponent(odd)) },
      {
        weight: 1,
        arbitrary: fc.constantFrom("%00", "%ff", "%", "%ed%a0%80", "a%2Fb", "0", "-1", "1.0", "99999999999999999"),
      },
    );
  };

  function queries(parameters: Operation["parameters"]): fc.Arbitrary<string> {
    const names = parameters.filter((parameter) => parameter.in === "query");
    if (names.length === 0) return fc.constantFrom("", "?unknown=1", "?format=json", "?format=xml", "?%00");
    const pair = fc.constantFrom(...names).chain(({ name, schema }) =>
      fc
        .oneof(
          valid(schema).map((value) => encodeURIComponent([value].flat().join(","))),
          text(100).map((odd) => encodeURIComponent(odd)),
          fc.constantFrom("%00", "%ff", "%", "last", "id,-name", "-positionid,,x", "null"),
        )
        .map((value) => `${name}=${value}`),
    );
    return fc.array(pair, { maxLength: 4 }).map((pairs) => (pairs.length === 0 ? "" : `?${pairs.join("&")}`));
  }

  /** Requests to every operation below an event. */
  function shots(): fc.Arbitrary<Shot> {
    const operations = Object.entries(document.paths)
      .filter(([path]) => whole.test(path))
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
      );
    expect(operations.length).toBeGreaterThan(5);
    return fc.constantFrom(...operations).chain(({ path, method, operation }) => {
      const below = path.replace(whole, "");
      const names = [...below.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");
      const schema = operation.requestBody?.content["application/json"]?.schema;
      const body: fc.Arbitrary<Pick<Shot, "body" | "sent" | "headers">> =
        schema === undefined ? fc.constant({ body: undefined, sent: undefined, headers: {} }) : bodies(schema);
      return fc
        .record({
          values: fc.tuple(...names.map(pathValue)),
          query: queries(operation.parameters),
          body,
          device: fc.boolean(),
        })
        .map(({ values, query, body: { headers, ...rest }, device }) => ({
          method,
          path:
            eventPath +
            names.reduce((filled, name, at) => filled.replace(`{${name}}`, () => values[at] ?? ""), below) +
            query,
          headers: { ...headers, authorization: device ? `Device ${deviceKey}` : `Token ${apiKey}` },
          ...rest,
        }));
    });
  }

  it("is never a failure of ours, never answered in an undeclared way, and never taken for something else", async () => {
    const seed = Number(process.env["FUZZ_SEED"] ?? randomInt(2 ** 31));
    const statuses = new Map<number, number>();
    const property = fc.asyncProperty(shots(), async ({ method, path, headers, body, sent }) => {
      const started = performance.now();
      // Holds status and body against the document, too.
      const answer = await platform.request(method, path, { headers, ...(body === undefined ? {} : { body }) });
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      expect(answer.status).toBeLessThan(500);
      expect(performance.now() - started).toBeLessThan(slowMs);
      if (answer.status === 409 || answer.status === 429) expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
      if (answer.status >= 300 || sent === undefined || !isRecord(sent)) return;
      if (method === "POST" && path.includes("/redeem/")) expectScanAsSent(sent, answer);
      else if (method !== "GET") await expectListAsSent(sent, answer);
    });
    await fc.assert(property, {
      seed,
      numRuns: runs,
      interruptAfterTimeLimit: seconds * 1000,
      errorWithCause: true,
      ...(process.env["FUZZ_PATH"] === undefined ? {} : { path: process.env["FUZZ_PATH"] }),
    });
    // A run that reaches nothing proves nothing.
    for (const status of [200, 201, 400, 404]) expect(statuses.get(status), `answers ${status}`).toBeGreaterThan(5);
  });

  /** Every known field that was sent is what is stored, read as leniently as the conventions say and no more. */
  async function expectListAsSent(sent: Readonly<Record<string, Json>>, answer: Answer): Promise<void> {
    const shown = answer.body as Record<string, Json>;
    const fields = resolve({ $ref: "#/components/schemas/CheckinListBody" }).properties ?? {};
    for (const [name, schema] of Object.entries(fields)) {
      if (!Object.hasOwn(sent, name)) continue;
      const [before, after] = [sent[name] ?? null, shown[name] ?? null];
      expect(means(schema, before, after), `${name}: ${JSON.stringify(before)} became ${JSON.stringify(after)}`).toBe(
        true,
      );
    }
    const again = await platform.request("GET", `${eventPath}/checkinlists/${String(shown["id"])}/`, {
      as: `Token ${apiKey}`,
    });
    expect(again.body).toEqual(answer.body);
  }

  function expectScanAsSent(sent: Readonly<Record<string, Json>>, answer: Answer): void {
    const { force, simulate, type, datetime } = sent;
    for (const flag of [force, simulate]) expect([...truths, ...untruths, null, undefined]).toContainEqual(flag);
    expect(truths).not.toContainEqual(simulate);
    expect(["entry", "exit", "", null, undefined]).toContainEqual(type);
    if (answer.status !== 201 || typeof datetime !== "string" || typeof sent["nonce"] === "string") return;
    const { checkins } = answer.body.position as { checkins: { datetime: string; type: string }[] };
    expect(checkins.map((scan) => toMicros(scan.datetime))).toContain(toMicros(datetime));
  }
});

const truths: readonly Json[] = [true, 1, "1", "true"];
const untruths: readonly Json[] = [false, 0, "0", "false", -0];

/** Whether a value that was sent may be shown as another one. */
function means(schema: Schema, sent: Json, shown: Json): boolean {
  const types = [schema.type ?? []].flat();
  if (types.length === 0) return JSON.stringify(sent) === JSON.stringify(shown);
  if (sent === null) return types.includes("null") && shown === null;
  if (types.includes("boolean")) return (shown === true ? truths : untruths).includes(sent);
  if (types.includes("integer")) return shown === null ? sent === "" : Number(sent) === shown;
  if (types.includes("array")) {
    if (!Array.isArray(sent) || !Array.isArray(shown)) return false;
    const before = [...new Set(sent.map(Number))];
    return before.join() === [...new Set(shown)].join();
  }
  if (schema.format === "date-time")
    return typeof sent === "string" && typeof shown === "string" && toMicros(sent) === toMicros(shown);
  if (typeof sent === "number") return String(sent) === shown;
  return typeof sent === "string" && sent.trim() === shown && !badTexts.some((bad) => sent.includes(bad));
}

/** Microseconds since 1970 as the conventions read a datetime, in integers of any size. */
function toMicros(datetime: string): bigint {
  const [, day, minute, second = "00", fraction = "", zone = "Z"] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?(Z|[+-]\d\d:?\d\d)?)?$/.exec(datetime.trim()) ??
    [];
  const ms = Date.parse(`${day}T${minute ?? "00:00"}:${second}${zone.replace(/(\d\d)(\d\d)$/, "$1:$2")}`);
  expect(Number.isNaN(ms), `${datetime} was taken for a datetime`).toBe(false);
  return BigInt(ms) * 1000n + BigInt(fraction.padEnd(6, "0"));
}

function isRecord(value: Json): value is Readonly<Record<string, Json>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
