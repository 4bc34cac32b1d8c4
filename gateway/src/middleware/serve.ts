import { Fault } from "@tessera/kit/fault";
import { isObject } from "@tessera/values";
import { checkBody, mediaType, unsupported } from "../body/parse-body.ts";
import { pausingParser } from "../body/parse-pausing.ts";
import { partyOf, type ReadBody } from "../body/read-body.ts";
import { fault } from "../faults.ts";
import type { Context } from "../http/context.ts";
import { alignElementErrors, alignErrorsIn, ElementErrors } from "../http/element-errors.ts";
import { routeFor } from "../http/endpoint.ts";
import { IncomingRequest } from "../http/incoming.ts";
import { readQuery } from "../http/parameter.ts";
import { httpStatus, methodNotAllowed, toProblem } from "../http/problem.ts";
import type { AnyDeclaration, Incoming, RepeatedReply, Reply, Route } from "../http/route.ts";
import type { Outcome, Step } from "../http/step.ts";
import { writeList } from "../http/write-list.ts";
import { describeEndpoint } from "./describe-endpoint.ts";

export interface ServeOptions {
  readonly readBody: ReadBody;
  readonly baseUrl: () => string;
}

/** Runs the route of the request: method, query, body, handler, in this order. */
export function serve({ readBody, baseUrl }: ServeOptions): Step {
  const parse = pausingParser();
  return async (ctx): Promise<Outcome> => {
    const { endpoint } = ctx.state;
    if (endpoint === undefined) throw new Error("a request without an endpoint was let through");
    const route = routeFor(endpoint, ctx.method);
    if (route === undefined) {
      if (ctx.method !== "OPTIONS") throw methodNotAllowed();
      send(ctx, { status: "ok", body: describeEndpoint(endpoint) });
      return "answered";
    }
    const { querystring } = ctx;
    const search = querystring === "" ? noSearch : new URLSearchParams(querystring);
    const incoming = new IncomingRequest(ctx, { baseUrl: baseUrl(), search });
    send(
      ctx,
      await answer(route, incoming, { ctx, search, readBody, parse }).catch((error) => replyErrors(ctx, error)),
    );
    return "answered";
  };
}

interface BodyReading {
  readonly ctx: Context;
  readonly readBody: ReadBody;
  readonly parse: ReturnType<typeof pausingParser>;
}

async function answer(
  route: Route,
  incoming: IncomingRequest,
  { search, ...reading }: BodyReading & { readonly search: URLSearchParams },
): Promise<Reply | RepeatedReply> {
  const { ctx } = reading;
  try {
    if (search.size > 0 && holdsNul(ctx.querystring))
      throw fault("malformed_query", "The query holds a null character.");
    incoming.query = search === noSearch ? withoutQuery(route) : readQuery(route.query ?? {}, search);
    incoming.body = await readContent(route, reading);
  } catch (error) {
    // A missing object takes precedence over errors in the request.
    if (error instanceof Fault && error.kind === "invalid") await route.exists?.(incoming);
    throw error;
  }
  const handle = route.handle as (request: Incoming) => Promise<Reply | RepeatedReply>;
  try {
    return await handle(incoming);
  } catch (error) {
    throw aligned(error, route, incoming.body);
  }
}

/** Answers errors of list elements in slices: the list is long. */
async function replyErrors(ctx: Context, error: unknown): Promise<Reply> {
  if (!(error instanceof Fault && error.cause instanceof ElementErrors && error.cause.inField === undefined))
    throw error;
  ctx.state.refusal = error.code;
  const { status, headers } = toProblem(error);
  const body = await writeList(error.cause.elements, (errors) => errors);
  return { status, headers, type: "application/json", body };
}

/** For requests without a query; never changed. */
const noSearch = new URLSearchParams();

const readWithoutQuery = new WeakMap<Route, unknown>();

/** The parsed parameters of a request without a query, cached per route. */
function withoutQuery(route: Route): unknown {
  const known = readWithoutQuery.get(route) ?? readQuery(route.query ?? {}, noSearch);
  readWithoutQuery.set(route, known);
  return known;
}

/** Converts errors of list elements to the order of the request. */
function aligned(error: unknown, { body, listField }: AnyDeclaration, sent: unknown): unknown {
  if (body?.kind === "list") return Array.isArray(sent) ? alignElementErrors(error, sent.length) : error;
  const list = listField !== undefined && isObject(sent) ? sent[listField] : undefined;
  return listField !== undefined && Array.isArray(list) ? alignErrorsIn(listField, error, list.length) : error;
}

function holdsNul(querystring: string): boolean {
  return querystring.includes("%00") || querystring.includes("\0");
}

async function readContent(route: AnyDeclaration, { ctx, readBody, parse }: BodyReading): Promise<unknown> {
  const { body, streams } = route;
  if (streams !== undefined) {
    if (typeof streams === "string" && mediaType(ctx.get("Content-Type")) !== streams)
      throw unsupported(`Send the body as ${streams}.`);
    return undefined;
  }
  if (body === undefined) return undefined;
  const bytes = ctx.state.body ?? (await readBody(ctx, body));
  const { "content-type": type = "", "content-encoding": encoding = "" } = ctx.req.headers;
  const sent = await parse(partyOf(ctx), bytes, { type, encoding }, body);
  try {
    return await checkBody(sent, body);
  } catch (error) {
    throw body.kind === "object" ? aligned(error, route, sent) : error;
  } finally {
    // The elements of a batch are handled a few at a time, also beside those of others.
    if (body.kind === "batch") ctx.state.endReading?.();
  }
}

function send(ctx: Context, { status: given, headers, type, body }: Reply | RepeatedReply): void {
  const status = typeof given === "number" ? given : httpStatus[given];
  if (headers !== undefined) ctx.set({ ...headers });
  if (body === undefined || body === null) {
    ctx.body = null;
    ctx.status = status;
    return;
  }
  ctx.status = status;
  if (type !== undefined) ctx.type = type;
  ctx.body = body;
}
