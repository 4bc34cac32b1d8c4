import { createHash } from "node:crypto";
import { currentContext, runInContext } from "@tessera/kit/context";
import { Fault } from "@tessera/kit/fault";
import type { Log } from "@tessera/kit/log";
import type { Caller } from "../access/caller.ts";
import { type BodyLimits, readBytes } from "../body/read-bytes.ts";
import { fault } from "../faults.ts";
import type { Context, Middleware } from "../http/context.ts";
import { routeFor } from "../http/endpoint.ts";
import { answerProblems, isLasting } from "../http/problem.ts";
import type { Route } from "../http/route.ts";
import type { Claim, Claiming, KeptAnswer, KeyedRequest, Occupied } from "../store/kept-answers.ts";

/** The store of kept answers. It retries failed writes by itself: the request is answered anyway. */
export interface AnswerStore {
  claim(request: KeyedRequest): Promise<Claiming>;
  /** Why a request could not be claimed; undefined: it can. */
  find(request: KeyedRequest): Promise<Occupied | undefined>;
  keep(claim: Claim, answer: KeptAnswer): Promise<void>;
  release(claim: Claim): Promise<void>;
}

export interface RepeatOptions {
  readonly answers: AnswerStore;
  readonly limits: BodyLimits;
  readonly log: Log;
}

const safe = new Set(["GET", "HEAD", "OPTIONS"]);

const longestKey = 190;

/** Beyond the rate limit a larger body is not read: a repetition is then refused like a new request. */
const mostBytesOverLimit = 64 * 1024;

/**
 * Repeats the answer to a request that comes again under its `X-Idempotency-Key` (rules: A10).
 *
 * It applies to every unsafe method, whatever the outcome. Transient outcomes (401, 409, 429, 5xx) are not kept: the
 * next repetition retries under the same request id, by which services recognise what they have already done. Bodies
 * that are read as a stream are exempt: repeated records change nothing.
 */
export function repeatAnswers({ answers, limits, log }: RepeatOptions): Middleware {
  const answerProblemsHere = answerProblems(log);
  return async (ctx, next) => {
    const { caller, endpoint } = ctx.state;
    const key = ctx.get("X-Idempotency-Key");
    if (key === "" || caller === undefined || endpoint === undefined || safe.has(ctx.method)) {
      await next();
      return;
    }
    const route = routeFor(endpoint, ctx.method);
    if (route?.streams !== undefined) {
      await next();
      return;
    }
    if (key.length > longestKey) {
      throw fault("key_too_long", `An idempotency key has at most ${longestKey} characters.`);
    }
    const { overLimit } = ctx.state;
    const body = await (overLimit === undefined ? readBytes(ctx.req, limits) : readLittle(ctx, { limits, overLimit }));
    ctx.state.body = body;
    const request = { caller: ownerOf(caller), key, requestHash: hashOf(ctx, body) };
    const claiming = await lookUp(request, { answers, overLimit });
    if (claiming.kind === "taken") {
      throw fault(
        "key_used",
        "This idempotency key was used for another request. Use a new key for each request, and the same one only to repeat it.",
      );
    }
    if (claiming.kind === "under way") {
      throw fault("request_under_way", "A request with this idempotency key is still at work.");
    }
    if (claiming.kind === "answered") {
      sendKept(ctx, claiming.answer);
      return;
    }

    const { claim } = claiming;
    const work = async () => void (await answerProblemsHere(ctx, next));
    await runInContext({ ...currentContext(), requestId: claim.requestId }, work);
    await (isKept(ctx.status, route) ? answers.keep(claim, toKept(ctx)) : answers.release(claim));
  };
}

/** Reads the body of a request beyond the rate limit, unless it is too large to be worth it. */
async function readLittle(
  ctx: Context,
  { limits, overLimit }: { readonly limits: BodyLimits; readonly overLimit: Fault },
): Promise<Buffer> {
  try {
    return await readBytes(ctx.req, { ...limits, maxBytes: Math.min(limits.maxBytes, mostBytesOverLimit) });
  } catch (error) {
    throw error instanceof Fault && error.code === "body_too_large" ? overLimit : error;
  }
}

/** A request beyond the rate limit still gets a kept answer, and stores nothing. */
async function lookUp(
  request: KeyedRequest,
  { answers, overLimit }: { readonly answers: AnswerStore; readonly overLimit: Fault | undefined },
): Promise<Claiming> {
  if (overLimit === undefined) return answers.claim(request);
  const found = await answers.find(request);
  if (found === undefined) throw overLimit;
  return found;
}

function ownerOf(caller: Caller): string {
  return caller.kind === "operator" ? caller.kind : caller.countedAs;
}

/** Lengths separate the parts. */
function hashOf(ctx: Context, body: Buffer): Buffer {
  const hash = createHash("sha256");
  for (const part of [ctx.method, ctx.url, ctx.get("Content-Type"), body]) {
    hash.update(`${Buffer.byteLength(part)}:`).update(part);
  }
  return hash.digest();
}

function isKept(status: number, route: Route | undefined): boolean {
  if (route?.showsSecret === true && status < 300) return false;
  return isLasting(status);
}

/** The headers that a repetition needs; all others are set for each answer. */
const keptNames = ["Content-Type", "Location", "Allow"] as const;

function toKept(ctx: Context): KeptAnswer {
  const headers = keptNames.flatMap((name) => {
    const value = ctx.response.get(name);
    return value === "" ? [] : [[name, value] as const];
  });
  return { status: ctx.status, headers: Object.fromEntries(headers), body: bytesOf(ctx) };
}

/** Turns the body into the bytes that will be sent. */
function bytesOf(ctx: Context): Buffer | null {
  const { body } = ctx;
  if (body === null || body === undefined) return null;
  if (Buffer.isBuffer(body)) return body;
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  ctx.body = bytes;
  return bytes;
}

/** Sends a kept answer. */
function sendKept(ctx: Context, { status, headers, body }: KeptAnswer): void {
  ctx.body = body;
  ctx.status = status;
  ctx.set({ ...headers });
}
