import type { Fault } from "@tessera/kit/fault";
import { backoff } from "@tessera/kit/waiting/backoff";
import { pause } from "@tessera/kit/waiting/pause";
import pLimit from "p-limit";
import { fault } from "../faults.ts";

/** Time-outs and pauses of requests. */
export interface Pace {
  readonly timeoutMs: number;
  readonly tries: number;
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
}

const pace: Pace = { timeoutMs: 60_000, tries: 8, firstPauseMs: 500, longestPauseMs: 30_000 };

/** The longest Retry-After that is obeyed. */
const longestRetryAfterMs = 600_000;

/** Few, so that an import does not slow down a selling shop. */
const requestsAtOnce = 2;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

export interface Question {
  readonly headers?: Readonly<Record<string, string>>;
  readonly mostBytes: number;
  /** False for other origins, which must not get the token. */
  readonly withToken?: boolean;
  /** For files that an import can leave out: fewer than usual. */
  readonly tries?: number;
}

/** A running pretix. */
export interface Pretix {
  readonly origin: string;
  /** The URL of a path below `organizers/`. */
  address(path: string, query?: Readonly<Record<string, string | readonly string[] | undefined>>): URL;
  /** Retries until the answer is final. Throws TooLarge if the answer is too long. */
  ask(url: URL, question: Question): Promise<Answer>;
}

/** An answer is longer than the caller allows. */
export class TooLarge extends Error {
  override readonly name = "TooLarge";
}

/** Sends requests with a token, and repeats those that fail by lost connections, overload or outages. */
export function askPretix(options: {
  readonly url: string;
  readonly token: string;
  readonly onWait?: (text: string) => void;
  readonly pace?: Partial<Pace> | undefined;
}): Pretix {
  const base = readBase(options.url);
  const token = readToken(options.token);
  const { timeoutMs, tries, firstPauseMs, longestPauseMs } = { ...pace, ...options.pace };
  const limit = pLimit(requestsAtOnce);
  let hasAnswered = false;

  async function tryOnce(url: URL, question: Question): Promise<Answer | { readonly failure: unknown }> {
    try {
      const response = await fetch(url, {
        headers: {
          accept: "application/json, */*",
          ...(question.withToken === false ? {} : { authorization: `Token ${token}` }),
          ...question.headers,
        },
        // A redirect could send the token anywhere.
        redirect: "manual",
        signal: AbortSignal.timeout(timeoutMs),
      });
      hasAnswered = true;
      const body = await readBounded(response, question.mostBytes);
      return { status: response.status, headers: response.headers, body };
    } catch (error) {
      if (error instanceof TooLarge) throw error;
      return { failure: error };
    }
  }

  return {
    origin: base.origin,
    address(path, query = {}) {
      const url = new URL(`${base.href}api/v1/organizers/${path}`);
      for (const [name, value] of Object.entries(query)) {
        if (value === undefined) continue;
        for (const each of typeof value === "string" ? [value] : value) url.searchParams.append(name, each);
      }
      return url;
    },
    async ask(url, question) {
      for (let attempt = 1; ; attempt += 1) {
        const outcome = await limit(tryOnce, url, question);
        const isTransient = "failure" in outcome || outcome.status === 429 || outcome.status >= 500;
        if (!isTransient) return outcome;
        if (
          attempt >= (question.tries ?? tries) ||
          ("failure" in outcome && isHopeless(outcome.failure, { hasAnswered }))
        )
          throw finalFault(url, outcome);
        const grown = backoff({ firstMs: firstPauseMs, longestMs: longestPauseMs }, attempt);
        // Random jitter, so that requests that failed together are not retried together.
        const waitMs = Math.max(
          "failure" in outcome ? 0 : retryAfterMs(outcome.headers),
          grown * (0.5 + Math.random()),
        );
        options.onWait?.(`${whatHappened(outcome)}; trying again in ${Math.ceil(waitMs / 1000)} s`);
        await pause(waitMs);
      }
    },
  };
}

async function readBounded({ body }: Response, mostBytes: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    // Leaving the loop cancels the rest.
    if (bytes > mostBytes) throw new TooLarge(`more than ${mostBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function readBase(text: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw fault("bad_pretix_url", "--from-pretix takes the address of a pretix, as https://pretix.eu");
  if (url.username !== "" || url.password !== "")
    throw fault("bad_pretix_url", "--from-pretix takes an address without a user; set PRETIX_TOKEN instead");
  return new URL(`${url.pathname.replace(/\/+(?:api(?:\/v1)?\/*)?$/, "")}/`, url.origin);
}

function readToken(token: string): string {
  // It is a secret, so the message does not quote it.
  if (!/^[\x21-\x7e]+$/.test(token)) throw fault("bad_token", "the token of pretix is one word of letters and digits");
  return token;
}

type Failed = Answer | { readonly failure: unknown };

function whatHappened(outcome: Failed): string {
  if ("failure" in outcome)
    return outcome.failure instanceof Error && outcome.failure.name === "TimeoutError"
      ? "pretix does not answer in time"
      : "the connection to pretix is lost";
  return outcome.status === 429 ? "pretix asks for a pause" : `pretix fails (HTTP status ${outcome.status})`;
}

function finalFault(url: URL, outcome: Failed): Fault {
  const again = "run the same command again later; it continues where it stopped";
  return fault(
    "failure" in outcome ? "no_pretix" : "pretix_not_well",
    `${whatHappened(outcome)} at ${url.origin}${url.pathname}; check the address, or ${again}`,
    "failure" in outcome ? { cause: causeOf(outcome.failure) } : {},
  );
}

/** fetch wraps the error of the system. */
function causeOf(failure: unknown): unknown {
  return failure instanceof Error && failure.cause !== undefined ? failure.cause : failure;
}

/**
 * Failures that a retry does not mend: an unknown host, an invalid certificate, and a closed port before the first
 * answer. After an answer, the server may be restarting.
 */
function isHopeless(failure: unknown, { hasAnswered }: { readonly hasAnswered: boolean }): boolean {
  const cause = causeOf(failure);
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return (
    code === "ENOTFOUND" ||
    (code === "ECONNREFUSED" && !hasAnswered) ||
    /CERT|^ERR_TLS|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)
  );
}

function retryAfterMs(headers: Headers): number {
  const text = headers.get("retry-after")?.trim() ?? "";
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? 0 : Math.min(longestRetryAfterMs, Math.max(0, ms));
}
