import { backoff } from "@tessera/kit/backoff";
import type { Fault } from "@tessera/kit/fault";
import { pause } from "@tessera/kit/pause";
import pLimit from "p-limit";
import { fault } from "../faults.ts";
import { readBounded, TooLarge } from "./read-bounded.ts";

/** How patient requests are. */
export interface Pace {
  readonly timeoutMs: number;
  readonly tries: number;
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
}

const pace: Pace = { timeoutMs: 60_000, tries: 8, firstPauseMs: 500, longestPauseMs: 30_000 };

/** A server that asks for a longer pause than this is asked again all the same, and then may say so again. */
const longestRetryAfterMs = 600_000;

/** Two at a time, so that an import does not crowd out a shop that is selling. */
const requestsAtOnce = 2;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

export interface Question {
  readonly headers?: Readonly<Record<string, string>>;
  readonly mostBytes: number;
  /** Left out where the token is nobody's business: at other origins. */
  readonly withToken?: boolean;
  /** Fewer tries than usual, for what an import goes on without. */
  readonly tries?: number;
}

/** A running pretix, as it is asked over HTTP. */
export interface Pretix {
  readonly origin: string;
  /** The address of something below `organizers/`. */
  address(path: string, query?: Readonly<Record<string, string | readonly string[] | undefined>>): URL;
  /** Asks until there is an answer that another try would not change. Throws TooLarge when it is longer than allowed. */
  ask(url: URL, question: Question): Promise<Answer>;
}

/** Makes requests with a token, two at a time, and tries again what may heal: lost connections, overload, outages. */
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

  async function tryOnce(url: URL, question: Question): Promise<Answer | { readonly failure: unknown }> {
    try {
      const response = await fetch(url, {
        headers: {
          accept: "application/json, */*",
          ...(question.withToken === false ? {} : { authorization: `Token ${token}` }),
          ...question.headers,
        },
        // Whoever redirects could send the token, or the reader, anywhere.
        redirect: "manual",
        signal: AbortSignal.timeout(timeoutMs),
      });
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
        const passing = "failure" in outcome || outcome.status === 429 || outcome.status >= 500;
        if (!passing) return outcome;
        if (attempt >= (question.tries ?? tries) || ("failure" in outcome && isHopeless(outcome.failure)))
          throw givenUp(url, outcome);
        const grown = backoff({ firstMs: firstPauseMs, longestMs: longestPauseMs }, attempt);
        // Spread, so that two requests that failed together do not come back together.
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

function readBase(text: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw fault("bad_pretix_url", "--from-pretix takes the address of a pretix, as https://pretix.eu");
  if (url.username !== "" || url.password !== "")
    throw fault("bad_pretix_url", "--from-pretix takes an address without a user; pass --token instead");
  return new URL(`${url.pathname.replace(/\/+(?:api(?:\/v1)?\/*)?$/, "")}/`, url.origin);
}

function readToken(token: string): string {
  // What is wrong with it is not quoted: it is a secret.
  if (!/^[\x21-\x7e]+$/.test(token)) throw fault("bad_token", "the token of pretix is one word of letters and digits");
  return token;
}

type Failed = Answer | { readonly failure: unknown };

function whatHappened(outcome: Failed): string {
  if ("failure" in outcome)
    return outcome.failure instanceof Error && outcome.failure.name === "TimeoutError"
      ? "pretix takes too long"
      : "the connection to pretix is lost";
  return outcome.status === 429 ? "pretix asks for a pause" : `pretix is not well (HTTP status ${outcome.status})`;
}

function givenUp(url: URL, outcome: Failed): Fault {
  const again = "run the same command again later, it goes on where it stopped";
  return fault(
    "failure" in outcome ? "no_pretix" : "pretix_not_well",
    `${whatHappened(outcome)} at ${url.origin}${url.pathname}; check the address, or ${again}`,
    "failure" in outcome ? { cause: causeOf(outcome.failure) } : {},
  );
}

/** fetch wraps what the system said. */
function causeOf(failure: unknown): unknown {
  return failure instanceof Error && failure.cause !== undefined ? failure.cause : failure;
}

/** A name that nobody has and a certificate that nobody vouches for stay so. */
function isHopeless(failure: unknown): boolean {
  const cause = causeOf(failure);
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return code === "ENOTFOUND" || /CERT|^ERR_TLS|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code);
}

function retryAfterMs(headers: Headers): number {
  const text = headers.get("retry-after")?.trim() ?? "";
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? 0 : Math.min(longestRetryAfterMs, Math.max(0, ms));
}
