import { type JsonSchema, toJsonSchema } from "@tessera/schema/schema";
import { sessionCookie } from "../../access/cookies.ts";
import type { Access } from "../../access/may-use.ts";
import type { GatewayFault } from "../../faults.ts";
import { detail, fieldErrors, notAllowed } from "../../http/answers.ts";
import { pdf } from "../../http/attachment.ts";
import { csv } from "../../http/csv.ts";
import { httpStatus, isSuccess, type StatusName, saysWhenToRetry, statusOf } from "../../http/problem.ts";
import { type Answer, type Body, ignoresKeys, type Route } from "../../http/route.ts";
import { introduction } from "./introduction.ts";
import { describePathParameter } from "./path-parameters.ts";
import { type Direction, shapeForClients } from "./shape-for-clients.ts";
import { describeTag, tagNames, tagOf } from "./tags.ts";

/** Generates the OpenAPI document of all routes from their declarations alone. */
export function openApi(routes: readonly Route[], { server, version }: { server: string; version: string }): object {
  const components = new Components();
  const paths: Record<string, Record<string, object>> = {};
  const documented = routes.filter(({ isPage }) => isPage !== true);
  const used = new Set(documented.map(tagOf));
  for (const route of documented) {
    const path = documentedPath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, components) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Tessera",
      version,
      description: introduction,
      license: { name: "Apache License 2.0", identifier: "Apache-2.0" },
      contact: { name: "The maintainers of Tessera" },
    },
    servers: [{ url: server }],
    tags: tagNames.filter((name) => used.has(name)).map(describeTag),
    paths,
    components: { schemas: components.schemas, securitySchemes },
  };
}

const securitySchemes = {
  key: headerScheme("`Token <key>` with an API key."),
  device: headerScheme("`Device <key>` with the token of a scanner."),
  operator: headerScheme("`Token <key>` with the key of the operator."),
  session: {
    type: "apiKey",
    in: "cookie",
    name: sessionCookie,
    description:
      "The cookie of a person who has signed in, where there is no `Authorization`. What changes something must come from a page of this server.",
  },
};

function headerScheme(description: string): object {
  return { type: "apiKey", in: "header", name: "Authorization", description };
}

/** Paths as clients write them: `{name+}` is an ordinary parameter. */
export function documentedPath(path: string): string {
  return path.replaceAll("+}", "}");
}

function operation(route: Route, components: Components): object {
  return {
    operationId: route.name,
    tags: [tagOf(route)],
    summary: route.summary,
    description: [route.description, precedentOf(route), rightsOf(route.access)]
      .filter((text) => text !== undefined)
      .join("\n\n"),
    security: securityOf(route.access),
    parameters: [
      ...pathParameters(route),
      ...queryParameters(route),
      ...headerParameters(route.headers ?? {}),
      ...(isRepeatable(route) ? [idempotencyKey] : []),
    ],
    ...requestBody(route, components),
    responses: Object.fromEntries(
      Object.entries(answersOf(route)).map(([status, answer]) => [
        status,
        response(route, Number(status), answer, components),
      ]),
    ),
  };
}

function precedentOf({ example }: Route): string | undefined {
  return example?.follows === undefined ? undefined : `The example needs the answer of \`${example.follows}\`.`;
}

function rightsOf(access: Access): string | undefined {
  if (access.kind === "public") return undefined;
  if (access.kind === "operator") return "Needs the operator's key.";
  if (access.kind === "records")
    return "Needs the operator's key, or for records of its organizer an API key with `organizer.records:write`.";
  if (access.kind === "person") return "Needs the session of a person.";
  if (access.kind === "any") return `Open to every key.${profilesOf(access.profiles)}`;
  const whole = access.kind === "member" ? "a key or device of the organizer" : "access to the event";
  const rights = access.anyOf.map((name) => `\`${name}\``).join(" or ") || whole;
  if (access.kind === "organizer") return `Needs ${rights} in all events of the organizer, and an API key.`;
  return `Needs ${rights}.${profilesOf(access.profiles)}`;
}

function profilesOf(profiles: readonly string[]): string {
  return profiles.length === 0 ? "" : ` Open to device profiles ${profiles.join(", ")}.`;
}

function securityOf(access: Access): object[] {
  if (access.kind === "public") return [];
  if (access.kind === "operator") return [{ operator: [] }];
  if (access.kind === "records") return [{ operator: [] }, { key: [] }];
  if (access.kind === "person") return [{ session: [] }];
  return access.kind === "organizer" ? [{ key: [] }] : [{ key: [] }, { device: [] }, { session: [] }];
}

function pathParameters({ path, example }: Route): object[] {
  return Array.from(path.matchAll(/\{(\w+)\+?\}/g), ([, name = ""]) => {
    const { example: usual, ...parameter } = describePathParameter(name, path);
    return { name, in: "path", required: true, ...parameter, example: example?.path?.[name] ?? usual };
  });
}

function queryParameters({ query = {}, example }: Route): object[] {
  return Object.entries(query).map(([name, { description, schema, repeatable }]) => ({
    name,
    in: "query",
    description,
    schema: repeatable ? { type: "array", items: shapeForClients(schema, "sent") } : toJsonSchema(schema),
    ...(repeatable ? { style: "form", explode: true } : {}),
    ...(example?.query?.[name] === undefined ? {} : { example: example.query[name] }),
  }));
}

function headerParameters(headers: NonNullable<Route["headers"]>): object[] {
  return Object.entries(headers).map(([name, { description, required, example }]) => ({
    name,
    in: "header",
    description,
    required,
    schema: { type: "string" },
    ...(example === undefined ? {} : { example }),
  }));
}

const idempotencyKey = {
  name: "X-Idempotency-Key",
  in: "header",
  description:
    "Repeats a request without doing it again: within 24 hours the same request with the same key gets the same answer, a refusal too. After 401, 409, 429 and 5xx it is done again. Another request with a used key is 400, one that comes while the first is at work 409.",
  schema: { type: "string", maxLength: 190 },
};

function isRepeatable(route: Route): boolean {
  return route.method !== "GET" && !ignoresKeys(route) && route.access.kind !== "public";
}

function requestBody({ body, streams, lines, example }: Route, components: Components): object {
  const shown = example?.body === undefined ? {} : { example: example.body };
  if (streams !== undefined) {
    const line = lines && { contentMediaType: "application/json", contentSchema: components.refer(lines, "sent") };
    const content = [streams]
      .flat()
      .map((type) => [type, { schema: { ...bytes, ...line }, ...(type === example?.type ? shown : {}) }] as const);
    return { requestBody: { required: true, content: Object.fromEntries(content) } };
  }
  if (body === undefined) return {};
  const schema = components.refer(body.schema, "sent");
  const required = body.kind === "list" || ((body.schema["required"] ?? []) as readonly string[]).length > 0;
  const description = limitsOf(body);
  // Forms are accepted, too, but not documented: generated clients would use the last of several types.
  return { requestBody: { description, required, content: { "application/json": { schema, ...shown } } } };
}

/** Describes the limits of a body. Values are counted with all nested lists, objects and what is inside. */
function limitsOf(body: Body<unknown>): string {
  const size = `At most ${body.maxBytes / 1024} KiB`;
  if (body.kind === "object") return `${size} and ${body.mostValues} values.`;
  const { mostElements, longestElement, mostValues, mostInAll } = body.kind === "list" ? body : body.list;
  return `${size}, ${mostElements} elements and ${mostInAll} values in all; each element has at most ${longestElement / 1024} KiB and ${mostValues} values.`;
}

/** Generated clients send and read it unchanged. */
const bytes = { type: "string", format: "binary" };

function response(
  { produces = "application/json", example }: Route,
  status: number,
  answer: Answer,
  components: Components,
): object {
  const { description, schema } = answer;
  const headers = { ...(saysWhenToRetry(status) ? retryAfter : {}), ...textHeaders(answer.headers ?? {}) };
  const refusal = schema === detail ? { detail: description } : undefined;
  const body =
    example !== undefined && status === httpStatus[example.status] ? example.answer : (answer.example ?? refusal);
  const shown = body === undefined ? {} : { example: body };
  const types = isSuccess(status) ? [produces].flat() : ["application/json"];
  const contentOf = (type: string) =>
    type === csv
      ? { schema: { type: "string" } }
      : type === pdf
        ? { schema: bytes }
        : { schema: components.refer(schema ?? {}, "answered"), ...shown };
  return {
    description,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(schema === undefined ? {} : { content: Object.fromEntries(types.map((type) => [type, contentOf(type)])) }),
  };
}

const retryAfter = { "Retry-After": { description: "Seconds to wait.", schema: { type: "integer" } } };

function textHeaders(headers: NonNullable<Answer["headers"]>): object {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: "string" } }]),
  );
}

/** Every answer of a route: declared ones, and those of the steps before all routes. */
export function answersOf(route: Route): Readonly<Record<number, Answer>> {
  const guarded = route.access.kind !== "public";
  const reads = route.body !== undefined || route.streams !== undefined;
  const repeatable = isRepeatable(route);
  const refusals: readonly (readonly [code: GatewayFault, applies: boolean, description: string])[] = [
    ["no_credentials", guarded, "No valid credentials."],
    ["forbidden", guarded, notAllowed],
    ["not_found", true, "There is no such object, or no such `format`."],
    ["request_under_way", repeatable, "A request with this idempotency key is still at work."],
    ["not_acceptable", true, "The Accept header rules out the answer."],
    ["body_too_slow", reads || repeatable, "The body arrived too slowly."],
    ["body_too_large", reads || repeatable, tooLarge(route)],
    ["unsupported_media_type", reads, "The media type or encoding of the body is not supported."],
    ["rate_limited", guarded, "Too many requests."],
    ["peer_unavailable", guarded, "A service cannot be reached; try again."],
  ];
  const described = refusals.filter(([, applies]) => applies);
  return {
    [statusOf("invalid_body")]: {
      description: "The path, the query or the body is not valid.",
      schema: fieldErrors,
    },
    ...Object.fromEntries(described.map(([code, , description]) => [statusOf(code), { description, schema: detail }])),
    ...Object.fromEntries(
      Object.entries(route.answers).map(([name, answer]) => [httpStatus[name as StatusName], answer]),
    ),
  };
}

function tooLarge({ body }: Route): string {
  return body === undefined ? "The body is too large." : `The body has more than ${body.maxBytes} bytes.`;
}

/** Schemas with a title become components, each once. */
class Components {
  readonly schemas: Record<string, object> = {};
  readonly #seen = new Map<string, JsonSchema>();

  refer(schema: JsonSchema, direction: Direction): object {
    return this.#hoist(shapeForClients(schema, direction)) as object;
  }

  #hoist(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#hoist(item));
    if (typeof value !== "object" || value === null) return value;
    const inner = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, this.#hoist(part)]));
    const { title } = inner;
    // A property may be called `title`; the title of a schema is a string.
    if (typeof title !== "string" || inner["type"] === undefined) return inner;
    const before = this.#seen.get(title);
    if (before !== undefined && JSON.stringify(before) !== JSON.stringify(inner))
      throw new Error(`two schemas are called ${title}`);
    this.#seen.set(title, inner);
    this.schemas[title] = inner;
    return { $ref: `#/components/schemas/${title}` };
  }
}
