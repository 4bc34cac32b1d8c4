import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import type { Route } from "../../http/route.ts";
import { serveApp } from "../../testing/serve-app.ts";
import { answersOf, documentedPath, openApi } from "./openapi.ts";

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly security: object[];
  readonly parameters: { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
  readonly requestBody?: object;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

async function documented(): Promise<{ document: Document; routes: readonly Route[] }> {
  const app = await serveApp();
  const { json } = await app.send("GET", "/api/v1/openapi.json");
  await app.close();
  return { document: json as Document, routes: app.routes };
}

describe("the OpenAPI document", () => {
  it("is valid OpenAPI 3.1", async () => {
    const { document } = await documented();
    const validator = new Validator();
    const { valid, errors } = await validator.validate(JSON.parse(JSON.stringify(document)) as Record<string, unknown>);
    expect([valid, errors]).toEqual([true, undefined]);
    expect(validator.version).toBe("3.1");
  });

  it("[S9.1] has every route with every status, and nothing else", async () => {
    const { document, routes } = await documented();
    const declared = routes.map((route) => [
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

  it("refuses two schemas of one name", async () => {
    const { routes } = await documented();
    const [route] = routes as [Route];
    const clash = {
      ...route,
      path: "/other/",
      name: "other",
      answers: { 200: { description: "x", schema: { title: "Detail", type: "object" } } },
    };
    expect(() => openApi([route, clash], { server: "http://localhost", version: "1" })).toThrow("Detail");
  });
});
