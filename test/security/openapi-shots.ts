import fc from "fast-check";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** A schema as far as requests are made from it. */
export interface Schema {
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

/** An OpenAPI document as far as requests are made from it. */
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** A request that somebody might send. */
export interface Shot {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  /** What the body is, where it is JSON. */
  readonly sent: Json | undefined;
}

const inEvent = /^\/api\/v1\/organizers\/\{organizer\}\/events\/\{event\}/;

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
  "\u{1f600}".repeat(80),
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

/** Makes the arbitraries of requests to everything that a document describes. */
export function shotsAt(
  document: Document,
  { eventPath, credentials }: { eventPath: string; credentials: readonly string[] },
): { shots: fc.Arbitrary<Shot>; resolve(schema: Schema): Schema } {
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined
      ? schema
      : resolve(document.components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {});

  /** Values that the document allows. */
  function valid(named: Schema): fc.Arbitrary<Json> {
    const schema = resolve(named);
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    const types = [schema.type ?? []].flat();
    if (types.length === 0) return fc.constantFrom<Json>({}, [], true, 1, "1.00");
    const kinds: fc.Arbitrary<Json>[] = types.map((type): fc.Arbitrary<Json> => {
      switch (type) {
        case "null":
          return fc.constant(null);
        case "boolean":
          return fc.boolean();
        case "integer":
          return fc.oneof({ weight: 5, arbitrary: fc.constantFrom(1, 2) }, { weight: 1, arbitrary: fc.integer() });
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
    // The document calls no field an instant in an object that has one of this name.
    const entries = Object.entries(properties).map(
      ([name, schema]) => [name, name === "datetime" ? instant : valid(schema)] as const,
    );
    if (entries.length === 0 && additionalProperties !== undefined && additionalProperties !== false)
      return fc.dictionary(text(20), valid(additionalProperties === true ? {} : additionalProperties), { maxKeys: 4 });
    const required = properties["name"] === undefined ? [] : ["name"];
    return fc.record(Object.fromEntries(entries), { requiredKeys: required }) as fc.Arbitrary<Json>;
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
      { weight: 8, arbitrary: valid(schema).map(asJson) },
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
          .constantFrom(
            "text/plain",
            "application/jsonp",
            "multipart/form-data; boundary=x",
            "multipart/mixed",
            "",
            "a/b;c",
          )
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
      { weight: 1, arbitrary: text(50).map(toSegment) },
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
          valid(schema).map((value) => encodeURIComponent(asParameter(value))),
          text(100).map((odd) => encodeURIComponent(odd)),
          fc.constantFrom("%00", "%ff", "%", "last", "id,-name", "-positionid,,x", "null"),
        )
        .map((value) => `${name}=${value}`),
    );
    return fc.array(pair, { maxLength: 4 }).map((pairs) => (pairs.length === 0 ? "" : `?${pairs.join("&")}`));
  }

  /** Requests to every operation but those that read streams, which have shapes of their own. */
  function shots(): fc.Arbitrary<Shot> {
    const operations = Object.entries(document.paths)
      .filter(([path]) => path.startsWith("/api/v1/"))
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
      )
      .filter(({ operation }) => operation.requestBody === undefined || schemaOf(operation) !== undefined);
    // Those that store something are where most can go wrong.
    const weighted = operations.flatMap((each) =>
      Array<typeof each>(schemaOf(each.operation) === undefined ? 1 : 3).fill(each),
    );
    return fc.constantFrom(...weighted).chain(({ path, method, operation }) => {
      const below = path.replace(inEvent, "");
      const isInEvent = inEvent.test(path);
      const names = [...below.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");
      const schema = schemaOf(operation);
      const body: fc.Arbitrary<Pick<Shot, "body" | "sent" | "headers">> =
        schema === undefined ? fc.constant({ body: undefined, sent: undefined, headers: {} }) : bodies(schema);
      return fc
        .record({
          values: fc.tuple(...names.map(pathValue)),
          query: queries(operation.parameters),
          body,
          authorization: fc.constantFrom(...credentials),
          key: fc.oneof(
            { weight: 12, arbitrary: fc.constant(null) },
            { weight: 2, arbitrary: fc.uuid() },
            { weight: 1, arbitrary: text(200) },
          ),
        })
        .map(({ values: drawn, query, body: { headers, ...rest }, authorization, key }) => {
          // The lists that all others shoot at stay.
          const values = method === "DELETE" ? drawn.map((value) => (/[12]$/.test(value) ? "3" : value)) : drawn;
          const path = names.reduce((filled, name, at) => filled.replace(`{${name}}`, () => values[at] ?? ""), below);
          const repeatable = key === null || !isHeader(key) ? {} : { "x-idempotency-key": key };
          return {
            method,
            path: (isInEvent ? eventPath : "") + path + query,
            headers: { ...headers, ...repeatable, authorization },
            ...rest,
          };
        });
    });
  }

  return { shots: shots(), resolve };
}

function schemaOf({ requestBody }: Operation): Schema | undefined {
  return requestBody?.content["application/json"]?.schema;
}

/** What HTTP lets pass as the value of a header, without the blanks that it takes away. */
function isHeader(value: string): boolean {
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value);
}

function asParameter(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value).replaceAll(/^\[|\]$/g, "");
}

/** Nothing, one dot and two are no segments of a path: the client that sends the request takes them away. */
function toSegment(value: string): string {
  return /^\.{0,2}$/.test(value) ? "0" : encodeURIComponent(value);
}
