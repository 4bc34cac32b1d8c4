import { createHash } from "node:crypto";
import { currentContext, runInContext } from "@tessera/kit/context";
import { Fault } from "@tessera/kit/fault";
import type { Log } from "@tessera/kit/telemetry/log";
import type { Caller } from "../access/caller.ts";
import { freeBytes, type ReadBody } from "../body/read-body.ts";
import { fault } from "../faults.ts";
import { answerProblem } from "../http/answer-problem.ts";
import type { Context } from "../http/context.ts";
import { routeFor } from "../http/endpoint.ts";
import { isLasting, isSuccess, methodNotAllowed } from "../http/problem.ts";
import { ignoresKeys, type Route } from "../http/route.ts";
import type { Outcome, Step } from "../http/step.ts";
import type { Claim, ClaimedRequest, Claiming, KeptAnswer, KeyedRequest, Occupied } from "../store/kept-answers.ts";

/** The store of kept answers, which retries failed writes in the background. */
export interface AnswerStore {
  claim(request: ClaimedRequest): Promise<Claiming>;
  /** Why a request cannot be claimed; undefined: it can. */
  find(request: KeyedRequest): Promise<Occupied | undefined>;
  keep(claim: Claim, answer: KeptAnswer): Promise<void>;
  release(claim: Claim): Promise<void>;
  /** Whether the limit of kept answers of a caller is reached. */
  isFull(caller: string): boolean;
}

export interface RepeatOptions {
  readonly answers: AnswerStore;
  readonly readBody: ReadBody;
  readonly log: Log;
  /** The steps that follow. */
  readonly rest: Step;
}

const unsafe = new Set(["POST", "PUT", "PATCH", "DELETE"]);

const longestKey = 190;

/**
 * Repeats the answer to a request that comes again under its `X-Idempotency-Key` (rules: A10).
 *
 * Applies to every unsafe method, whatever the outcome. Transient outcomes (401, 409, 429, 5xx) are not kept: the next
 * repetition is processed under the same request id, by which services recognise what they have done. If the body is a
 * stream, its handler claims the key; imports are exempt, because records are idempotent.
 */
export function repeatAnswers(options: RepeatOptions): Step {
  return (ctx) => {
    const { caller, endpoint } = ctx.state;
    const key = ctx.req.headers["x-idempotency-key"] ?? "";
    if (typeof key !== "string" || key === "" || caller === undefined || endpoint === undefined) return undefined;
    if (!unsafe.has(ctx.method)) return undefined;
    const route = routeFor(endpoint, ctx.method);
    if (route !== undefined && ignoresKeys(route)) return undefined;
    if (key.length > longestKey) {
      throw fault("key_too_long", `An idempotency key has at most ${longestKey} characters.`);
    }
    if (route?.claimsKey === true) return answerStreamOnce(ctx, { ...options, caller, key, route });
    return answerOnce(ctx, { ...options, caller, key, route });
  };
}

interface KeyedUse extends RepeatOptions {
  readonly caller: Caller;
  readonly key: string;
  readonly route: Route | undefined;
}

async function answerOnce(
  ctx: Context,
  { answers, readBody, log, rest, caller, key, route }: KeyedUse,
): Promise<Outcome> {
  const { overLimit, forbidden } = ctx.state;
  const owner = ownerOf(caller);
  const refusal = overLimit ?? forbidden ?? (route === undefined ? methodNotAllowed() : undefined);
  const body = await readToHash(ctx, { readBody, route, refusal });
  ctx.state.body = body;
  const request = { caller: owner, key, requestHash: hashOf(ctx, [ctx.get("Content-Type"), body]) };
  const notNow = overLimit ?? (answers.isFull(owner) ? tooManyKeys() : undefined);
  const claiming = await claimOrRepeat({ ...request, ...eventOf(ctx) }, { answers, notNow });
  if (claiming.kind === "answered") {
    sendKept(ctx, claiming.answer);
    return "answered";
  }

  const { claim } = claiming;
  const work = async () => {
    try {
      await rest(ctx);
    } catch (error) {
      answerProblem(ctx, error, log);
    }
  };
  await runInContext({ ...currentContext(), requestId: claim.requestId }, work);
  await end(claim, { ctx, answers, route });
  return "answered";
}

/** Lets the handler claim the key after it has read the stream. An earlier refusal leaves the key as it is. */
async function answerStreamOnce(ctx: Context, { answers, log, rest, caller, key, route }: KeyedUse): Promise<Outcome> {
  const owner = ownerOf(caller);
  let held: Claim | undefined;
  ctx.state.claimKey = async (said) => {
    const request = { caller: owner, key, requestHash: hashOf(ctx, said) };
    const notNow = answers.isFull(owner) ? tooManyKeys() : undefined;
    const claiming = await claimOrRepeat({ ...request, ...eventOf(ctx) }, { answers, notNow });
    if (claiming.kind === "answered") return { kind: "answered", reply: claiming.answer };
    held = claiming.claim;
    return { kind: "new", requestId: held.requestId };
  };
  try {
    await rest(ctx);
  } catch (error) {
    answerProblem(ctx, error, log);
  }
  if (held !== undefined) await end(held, { ctx, answers, route });
  return "answered";
}

/** Keeps the answer to a claimed request, or releases the claim for the next repetition. */
async function end(
  claim: Claim,
  { ctx, answers, route }: { readonly ctx: Context; readonly answers: AnswerStore; readonly route: Route | undefined },
): Promise<void> {
  await (isKept(ctx.status, route) ? answers.keep(claim, toKept(ctx)) : answers.release(claim));
}

/**
 * Reads the body, which is part of the request. A request that will be refused unless it repeats another must stay
 * cheap: with a large body it is refused unread.
 */
async function readToHash(
  ctx: Context,
  options: { readonly readBody: ReadBody; readonly route: Route | undefined; readonly refusal: Fault | undefined },
): Promise<Buffer> {
  const { readBody, route, refusal } = options;
  const most = route?.body?.maxBytes ?? freeBytes;
  if (refusal === undefined) return readBody(ctx, { maxBytes: most });
  try {
    return await readBody(ctx, { maxBytes: Math.min(most, freeBytes) });
  } catch (error) {
    throw error instanceof Fault && error.code === "body_too_large" ? refusal : error;
  }
}

async function claimOrRepeat(
  request: ClaimedRequest,
  options: { readonly answers: AnswerStore; readonly notNow: Fault | undefined },
): Promise<Exclude<Claiming, { kind: "taken" | "under way" }>> {
  const claiming = await lookUp(request, options);
  if (claiming.kind === "taken") {
    throw fault(
      "key_used",
      "This idempotency key was used for another request. Use a new key for each request, and the same one only to repeat it.",
    );
  }
  if (claiming.kind === "under way") {
    throw fault("request_under_way", "A request with this idempotency key is still at work.");
  }
  return claiming;
}

/** A request that may not be claimed now still gets a kept answer, and stores nothing. */
async function lookUp(
  request: ClaimedRequest,
  { answers, notNow }: { readonly answers: AnswerStore; readonly notNow: Fault | undefined },
): Promise<Claiming> {
  if (notNow === undefined) return answers.claim(request);
  const found = await answers.find(request);
  if (found === undefined) throw notNow;
  return found;
}

/** The event whose data the answer may show. */
function eventOf({ state: { forbidden, params } }: Context): Pick<ClaimedRequest, "of"> {
  const { organizer, event } = params ?? {};
  const isNone = forbidden !== undefined || organizer === undefined || event === undefined;
  return { of: isNone ? undefined : { organizer, event } };
}

function tooManyKeys(): Fault {
  return fault("too_many_keys", "Too many answers are kept for these credentials. Send this request without a key.", {
    retryAfterMs: 60_000,
  });
}

function ownerOf(caller: Caller): string {
  return caller.kind === "operator" ? caller.kind : caller.countedAs;
}

/** Length prefixes make the concatenation unambiguous. */
function hashOf(ctx: Context, said: readonly (string | Buffer)[]): Buffer {
  const hash = createHash("sha256");
  for (const part of [ctx.method, ctx.url, ...said]) {
    hash.update(`${Buffer.byteLength(part)}:`).update(part);
  }
  return hash.digest();
}

function isKept(status: number, route: Route | undefined): boolean {
  if (route?.showsSecret === true && isSuccess(status)) return false;
  return isLasting(status);
}

/** The headers of a kept answer; others are set for each answer. */
const keptNames = ["Content-Type", "Location", "Allow"] as const;

function toKept(ctx: Context): KeptAnswer {
  const headers = keptNames.flatMap((name) => {
    const value = ctx.response.get(name);
    return value === "" ? [] : [[name, value] as const];
  });
  const { status } = ctx;
  return { status, headers: Object.fromEntries(headers), body: bytesOf(ctx) };
}

/** Serializes the body. */
function bytesOf(ctx: Context): Buffer | null {
  const { body } = ctx;
  if (body === null || body === undefined) return null;
  if (Buffer.isBuffer(body)) return body;
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  ctx.body = bytes;
  return bytes;
}

function sendKept(ctx: Context, { status, headers, body }: KeptAnswer): void {
  ctx.body = body;
  ctx.status = status;
  ctx.set({ ...headers });
}
