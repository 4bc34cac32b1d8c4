import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

export interface CheckedAnswer {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export type AnswerCheck = (answer: CheckedAnswer) => void;

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>
  >;
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Answers that are given before a route is found, so they belong to every path. */
const anyPath = new Set([301, 404, 405]);

/** Checks every answer of the tests against the published document: declared status, body or each of its lines by its schema. */
export async function checkAnswersAgainst(url: string): Promise<AnswerCheck> {
  const document = (await (await fetch(url)).json()) as OpenApi;
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true, discriminator: true });
  ajv.addSchema(document, "openapi");
  const compiled = new Map<string, ValidateFunction>();
  const routes = Object.entries(document.paths).map(([template, operations]) => ({
    template,
    operations,
    pattern: new RegExp(
      `^${template
        .replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&")
        .replaceAll(/\{lookup\}/g, ".+")
        .replaceAll(/\{[^}]+\}/g, "[^/]+")}$`,
    ),
  }));

  return ({ method, path, status, headers, body }) => {
    const pathname = path.split("?")[0] ?? path;
    const route = routes
      .filter((candidate) => candidate.pattern.test(pathname))
      .sort((a, b) => specificity(b.template) - specificity(a.template))[0];
    const operation = route?.operations[method.toLowerCase()];
    if (route === undefined || operation === undefined) {
      if (
        anyPath.has(status) ||
        method === "OPTIONS" ||
        method === "HEAD" ||
        !pathname.startsWith("/api/v1/") ||
        [401, 403].includes(status)
      )
        return;
      throw new Error(`${method} ${pathname} answered ${status}, but the document has no such operation`);
    }
    const response = operation.responses[String(status)];
    if (response === undefined)
      throw new Error(`${method} ${route.template} answered ${status}, which the document does not declare`);
    const type = headers.get("content-type")?.split(";")[0] ?? "";
    const schema = response.content?.[type]?.schema;
    const isLines = type === "application/x-ndjson";
    if (type !== "application/json" && !isLines) return;
    if (schema === undefined || (isLines && !("contentSchema" in schema)))
      throw new Error(`${method} ${route.template} ${status} has a JSON body, but no schema`);
    const pointer = [
      "paths",
      route.template,
      method.toLowerCase(),
      "responses",
      String(status),
      "content",
      type,
      "schema",
      ...(isLines ? ["contentSchema"] : []),
    ];
    const ref = `openapi#/${pointer.map((step) => encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/")}`;
    const validate = compiled.get(ref) ?? ajv.compile({ $ref: ref });
    compiled.set(ref, validate);
    const bodies = isLines
      ? String(body)
          .split("\n")
          .slice(0, -1)
          .map((line) => JSON.parse(line) as unknown)
      : [body];
    for (const each of bodies) {
      if (validate(each)) continue;
      throw new Error(
        `${method} ${route.template} ${status} does not match its schema: ${ajv.errorsText(validate.errors)} ${JSON.stringify(each)}`,
      );
    }
  };
}

/** Counts the literal segments of a path, without placeholders. */
function specificity(template: string): number {
  return template.split("/").filter((step) => !step.startsWith("{")).length;
}
