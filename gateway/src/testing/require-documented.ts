import { Readable } from "node:stream";
import { type Check, type Checked, compileSchema, type JsonSchema } from "@tessera/schema/schema";
import { type Endpoint, routeFor } from "../http/endpoint.ts";
import { httpStatus, isSuccess } from "../http/problem.ts";
import type { Route } from "../http/route.ts";
import { answersOf } from "../routes/documentation/openapi.ts";

/** One request and its answer. */
export interface Seen {
  readonly endpoint: Endpoint | undefined;
  readonly method: string;
  readonly status: number;
  readonly body: unknown;
}

/** Not answers of a route: those to unknown paths and methods, and to disconnected clients, and bugs. */
const { methodNotAllowed, clientDisconnected, internalError } = httpStatus;
const undocumented: ReadonlySet<number> = new Set([methodNotAllowed, clientDisconnected, internalError]);

/** Throws unless the document describes every answer: its status, and the shape of its body. */
export function requireDocumented({ seen }: { readonly seen: readonly Seen[] }): void {
  for (const { endpoint, method, status, body } of seen) {
    const route = endpoint === undefined ? undefined : routeFor(endpoint, method);
    if (route === undefined || undocumented.has(status)) continue;
    const answer = answersOf(route)[status];
    if (answer === undefined) throw new Error(`${method} ${route.path} answered ${status}, which is not documented`);
    if (answer.schema === undefined || body instanceof Readable) continue;
    if (Buffer.isBuffer(body) && (!isJson(route, status) || isGzip(body))) continue;
    const checked = checkBody(answer.schema, Buffer.isBuffer(body) ? (JSON.parse(body.toString()) as unknown) : body);
    if (!checked.ok) {
      throw new Error(
        `${method} ${route.path} answered ${status} unlike its schema: ${JSON.stringify(checked.errors)} ${JSON.stringify(body)}`,
      );
    }
  }
}

/** Lists written in slices, and kept answers, are JSON in bytes. */
function isJson({ produces }: Route, status: number): boolean {
  return produces === undefined || !isSuccess(status);
}

function isGzip(body: Buffer): boolean {
  return body.readUInt16BE() === 0x1f8b;
}

/** Thousands of answers have a few shapes. */
const checks = new WeakMap<JsonSchema, Check<unknown>>();

function checkOf(shape: JsonSchema): Check<unknown> {
  const check = checks.get(shape) ?? compileSchema(shape);
  checks.set(shape, check);
  return check;
}

/** Each possible shape checks its own copy, because a check may change the value. */
export function checkBody(schema: JsonSchema, body: unknown): Checked<unknown> {
  const shapes = Array.isArray(schema["anyOf"]) ? (schema["anyOf"] as JsonSchema[]) : [schema];
  const results = shapes.map((shape) => checkOf(shape)(structuredClone(body)));
  return results.find(({ ok }) => ok) ?? results[0] ?? { ok: true, value: body };
}
