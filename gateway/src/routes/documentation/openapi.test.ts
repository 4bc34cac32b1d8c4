import { Validator } from "@seriousme/openapi-schema-validator";
import type { JsonSchema } from "@tessera/schema/schema";
import { describe, expect, it } from "vitest";
import { httpStatus } from "../../http/problem.ts";
import type { Route } from "../../http/route.ts";
import { findHardParts } from "../../testing/find-hard-parts.ts";
import { checkBody } from "../../testing/require-documented.ts";
import { serveApp } from "../../testing/serve-app.ts";
import { answersOf, documentedPath, openApi } from "./openapi.ts";

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security: object[];
  readonly parameters: { readonly name: string; readonly in: string; readonly description?: string }[];
  readonly responses: Readonly<Record<string, { readonly content?: object; readonly headers?: object }>>;
  readonly requestBody?: {
    readonly description?: string;
    readonly content: Readonly<Record<string, { readonly schema: object }>>;
  };
}

interface Document {
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

async function documented(): Promise<{ document: Document; routes: readonly Route[] }> {
  const app = await serveApp();
  const { json } = await app.send("GET", "/api/v1/openapi.json");
  await app.close();
  return { document: json as Document, routes: app.routes };
}

type Content = Readonly<Record<string, { readonly schema: object }>>;

const documentedIn = (routes: readonly Route[]) => routes.filter(({ isPage }) => isPage !== true);

/** Fields that are kept as they were sent are texts during the check. */
const hasVerbatim = (properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>) =>
  Object.values(properties).some((property) => property["read"] === "json");

describe("the OpenAPI document", () => {
  it("is valid OpenAPI 3.1", async () => {
    const { document } = await documented();
    const validator = new Validator();
    const { valid, errors } = await validator.validate(JSON.parse(JSON.stringify(document)) as Record<string, unknown>);
    expect([valid, errors]).toEqual([true, undefined]);
    expect(validator.version).toBe("3.1");
  });

  it("describes the lines of the feed by kind, and names no file of the repository", async () => {
    const { document } = await documented();
    const feed = document.paths["/api/v1/organizers/{organizer}/sync/"]?.["get"];
    const line = { $ref: "#/components/schemas/FeedLine" };
    expect(feed?.responses["200"]?.content).toMatchObject({
      "application/x-ndjson": { schema: { contentSchema: line } },
      "text/event-stream": { schema: { contentSchema: line } },
    });
    expect(feed?.parameters).toContainEqual(expect.objectContaining({ name: "Last-Event-ID", in: "header" }));
    expect(JSON.stringify(document)).not.toMatch(/\bdocs\/|\.md\b/);
  });

  it("[S9.1] has every route with every status, and nothing else", async () => {
    const { document, routes } = await documented();
    const declared = documentedIn(routes).map((route) => [
      `${route.method} ${documentedPath(route.path)}`,
      Object.keys(answersOf(route)).sort(),
    ]);
    const written = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { responses }]) => [
        `${method.toUpperCase()} ${path}`,
        Object.keys(responses).sort(),
      ]),
    );
    expect(written.sort()).toEqual(declared.sort());
  });

  it("leaves pages for people out", async () => {
    const { routes } = await documented();
    const pages = routes.filter((route) => !documentedIn(routes).includes(route));
    expect(pages.map(({ path }) => path)).toEqual([
      "/",
      "/favicon.ico",
      "/docs",
      "/docs/start.js",
      "/docs/standalone.js",
      "/scan/",
      "/scan/service-worker.js",
      "/scan/assets/{file}",
      "/board/",
      "/board/assets/{file}",
    ]);
  });

  const json = "application/json";

  it("[S9.3] has an example of each request and of its answer, which fit their schemas", async () => {
    const { routes } = await documented();
    for (const { name, method, path, example, answers, body, streams, produces } of documentedIn(routes)) {
      const where = `${method} ${path} (${name})`;
      if (example === undefined) throw new Error(`${where} has no example`);
      const { schema } = answers[example.status] ?? {};
      expect(httpStatus[example.status], where).toBeLessThan(300);
      const isJson = [produces ?? json].flat().includes(json);
      if (schema !== undefined && isJson && name !== "getOpenApi") {
        expect(example.answer, where).toBeDefined();
        expect(checkBody(schema, example.answer), where).toMatchObject({ ok: true });
      }
      for (const answer of Object.values(answers)) {
        if (answer.example !== undefined && answer.schema !== undefined)
          expect(checkBody(answer.schema, answer.example), where).toMatchObject({ ok: true });
      }
      if (example.follows !== undefined) expect(routes.map((route) => route.name)).toContain(example.follows);
      if (streams !== undefined) expect([streams].flat(), where).toContain(example.type);
      if (body?.kind === "object") {
        const { ok } = body.check(structuredClone(example.body ?? {}));
        expect(ok || hasVerbatim(body.schema.properties), where).toBe(true);
      }
      if (body?.kind === "list") expect(Array.isArray(example.body), where).toBe(true);
    }
  });

  it("tells clients what to send: binary streams, and the header that an upload needs", async () => {
    const { document } = await documented();
    const upload = document.paths["/api/v1/upload"]?.["post"];
    expect(upload?.parameters).toContainEqual(
      expect.objectContaining({ in: "header", name: "Content-Disposition", required: true }),
    );
    for (const operation of [upload, document.paths["/api/v1/import/"]?.["post"]]) {
      const content = Object.values(operation?.requestBody?.content ?? {});
      expect(content.length).toBeGreaterThan(0);
      for (const { schema } of content) expect(schema).toMatchObject({ type: "string", format: "binary" });
    }
  });

  it.each([
    ["createTicketLayout", "At most 512 KiB and 30000 values."],
    ["createCheckinList", "At most 256 KiB and 20000 values."],
    [
      "createVouchers",
      "At most 10240 KiB, 10000 elements and 500000 values in all; each element has at most 1024 KiB and 5000 values.",
    ],
  ])("[S9.8] says how large the body of %s may be", async (name, limits) => {
    const { document } = await documented();
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    expect(operations.find(({ operationId }) => operationId === name)?.requestBody?.description).toBe(limits);
  });

  it.each([
    ["getOpenApi", "If-None-Match", "304", "ETag"],
    ["getTicketLayoutBackground", "If-None-Match", "304", "ETag"],
    ["getTicketLayoutBackground", "Range", "206", "Content-Range"],
    ["listCheckinLists", "If-Modified-Since", "304", "Last-Modified"],
  ])("[S9.5] of %s has the header %s with its answer %s, and %s", async (name, asked, status, answered) => {
    const { document } = await documented();
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const { parameters = [], responses = {} } = operations.find(({ operationId }) => operationId === name) ?? {};
    expect(parameters).toContainEqual(expect.objectContaining({ in: "header", name: asked, required: false }));
    expect(responses[status]?.headers).toHaveProperty(answered);
    const { headers } = responses["200"] ?? {};
    expect(Object.keys(headers ?? {})).toEqual([status === "304" ? answered : "ETag"]);
  });

  it("[S9.5] has the condition of every answer that is a condition's", async () => {
    const { document } = await documented();
    const conditions = {
      "206": /^Range$/,
      "304": /^If-(?:None-Match|Modified-Since)$/,
      "412": /^If-Unmodified-Since$/,
    };
    const answers = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap((operation) => Object.entries(conditions).map((each) => [operation, ...each] as const))
      .filter(([{ responses }, status]) => responses[status] !== undefined);
    expect(answers.length).toBeGreaterThan(3);
    for (const [{ operationId, parameters }, status, condition] of answers) {
      const names = parameters.filter((parameter) => parameter.in === "header").map(({ name }) => name);
      // Scanners say in their query what they have.
      if (operationId === "selectEventOfDevice") continue;
      expect(names, `${operationId} ${status}`).toContainEqual(expect.stringMatching(condition));
    }
  });

  it.each([
    ["redeemListedPosition", 64],
    ["createFailedCheckin", 64],
    ["createCheckinList", 256],
    ["createVoucher", 1024],
    ["assignTicketLayout", 512],
    ["renderTickets", 512],
    ["createOfflineSalesBatch", 1024],
    ["createTicketLayout", 512],
    ["previewTicketLayout", 512],
    ["createVouchers", 10 * 1024],
  ])("[A4.28] says that a body of %s has at most %d KiB", async (name, kib) => {
    const { document } = await documented();
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const { responses = {} } = operations.find(({ operationId }) => operationId === name) ?? {};
    expect(responses["413"]).toMatchObject({ description: expect.stringContaining(` ${kib * 1024} bytes`) });
  });

  it("has the words of closed lists", async () => {
    const { components } = (await documented()).document;
    const schemas = components.schemas as Readonly<
      Record<string, { properties: Record<string, { enum?: unknown[]; items?: { enum?: unknown[] } }> }>
    >;
    expect(schemas["Refused"]?.properties["reason"]?.enum).toContain("already_redeemed");
    expect(schemas["PastCheckin"]?.properties["error_reason"]?.enum).toContain(null);
    expect(schemas["ApiKeyBody"]?.properties["permissions"]?.items?.enum).toContain("can_view_orders");
    expect(schemas["ApiKey"]?.properties["permissions"]?.items?.enum).not.toContain("can_view_orders");
    expect(schemas["Device"]?.properties["security_profile"]?.enum).toEqual(
      expect.arrayContaining(["full", "pretixscan"]),
    );
  });

  it("describes every parameter and every group", async () => {
    const { document } = await documented();
    for (const { description } of document.tags) expect(description).toEqual(expect.any(String));
    const names = document.tags.map(({ name }) => name);
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    expect(new Set(operations.flatMap(({ tags }) => tags))).toEqual(new Set(names));
    for (const operation of operations)
      for (const { name, description } of operation.parameters) expect(description, name).toEqual(expect.any(String));
  });

  it("refers to what is there, and keeps our own keywords to itself", async () => {
    const { document } = await documented();
    const text = JSON.stringify(document);
    const referred = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
    expect(new Set(referred)).toEqual(new Set(Object.keys(document.components.schemas)));
    expect(referred).toContain("CheckinList");
    expect(text).not.toMatch(/"(?:read|nullable|blank|trim|places)":(?!\{)/);
  });

  it("names each operation once, and all its parameters", async () => {
    const { document, routes } = await documented();
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.values(methods).map((operation) => [path, operation] as const),
    );
    const names = operations.map(([, { operationId }]) => operationId);
    expect(new Set(names).size).toBe(names.length);
    for (const [path, operation] of operations) {
      const route = routes.find(({ name }) => name === operation.operationId);
      const inPath = operation.parameters.filter((parameter) => parameter.in === "path").map(({ name }) => `{${name}}`);
      expect(inPath.join()).toBe((path.match(/\{\w+\}/g) ?? []).join());
      expect(operation.parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name)).toEqual(
        Object.keys(route?.query ?? {}),
      );
      expect(operation.security.length === 0).toBe(route?.access.kind === "public");
      expect(operation.requestBody !== undefined).toBe(route?.body !== undefined || route?.streams !== undefined);
    }
  });

  it("[S9.9] has nothing of which a generator of clients makes none that compiles", async () => {
    const { document } = await documented();
    expect(findHardParts(document as unknown as JsonSchema)).toEqual([]);
  });

  it.each<[problem: string, schema: JsonSchema]>([
    ["null alone", { type: "null" }],
    ["several types", { type: ["integer", "string"] }],
    ["words that are no texts", { type: "boolean", enum: [false, null] }],
    ["an empty word", { type: "string", enum: ["", "entry"] }],
    ["a word that Kotlin has for itself", { type: "string", enum: ["entries"] }],
    ["a constant without a type", { const: "ok" }],
    ["a decimal as a number", { type: "string", format: "decimal" }],
    ["a large number of 32 bits", { type: "integer", maximum: 2 ** 40 }],
    ["a field that hides a type", { type: "object", properties: { datetime: {}, at: { format: "date-time" } } }],
    ["a default", { type: "object", properties: { item: { type: "integer", default: 1 } } }],
    ["names that clash", { type: "object", properties: { has_seats: {}, seats: {} } }],
    ["a map with fields", { type: "object", properties: { a: {} }, additionalProperties: { type: "string" } }],
    ["kinds without a name", { discriminator: {}, oneOf: [{ type: "object" }] }],
  ])("[S9.9] would not have %s", (problem, schema) => {
    expect(findHardParts({ components: { schemas: { Hard: schema } } })).toEqual([
      expect.stringMatching(new RegExp(`^/components/schemas/Hard.*: ${problem}$`)),
    ]);
  });

  it("[S9.9] has one schema for all answers of a route below 300", async () => {
    const { document } = await documented();
    for (const { operationId, responses } of Object.values(document.paths).flatMap((methods) =>
      Object.values(methods),
    )) {
      const schemas = Object.entries(responses)
        .filter(([status, { content }]) => status < "300" && content !== undefined)
        .map(([, { content }]) => JSON.stringify(Object.values(content as Content).map(({ schema }) => schema)));
      expect(new Set(schemas).size, operationId).toBeLessThan(2);
    }
  });

  it("refuses two schemas of one name", async () => {
    const { routes } = await documented();
    const [route] = routes as [Route];
    const clash = {
      ...route,
      path: "/other/",
      name: "other",
      answers: { ok: { description: "x", schema: { title: "Detail", type: "object" } } },
    };
    expect(() => openApi([route, clash], { server: "http://localhost", version: "1" })).toThrow("Detail");
  });
});
