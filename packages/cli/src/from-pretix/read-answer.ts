import type { Fault } from "@tessera/kit/fault";
import { isObject } from "@tessera/values";
import { fault } from "../faults.ts";
import { type Answer, type Pretix, TooLarge } from "./ask-pretix.ts";

export type Json = Readonly<Record<string, unknown>>;

/** A page of fifty orders with long answers has a few megabytes. */
const mostBytes = 64 * 1024 * 1024;

export interface Reading {
  /** The permission that the token needs, in the words of pretix. */
  readonly permission: string;
  /** Statuses besides 200 that the caller handles. */
  readonly expected?: readonly number[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** Reads JSON. A status that is neither 200 nor expected becomes a fault that says what to do. */
export async function readAnswer(
  pretix: Pretix,
  url: URL,
  { permission, expected = [], headers = {} }: Reading,
): Promise<{ answer: Answer; body: Json }> {
  const answer = await pretix.ask(url, { headers, mostBytes }).catch((error: unknown) => {
    throw error instanceof TooLarge ? unexpected(url, `is longer than ${mostBytes} bytes`) : error;
  });
  if (expected.includes(answer.status)) return { answer, body: {} };
  if (answer.status !== 200) throw explainRefusal(pretix, { url, answer, permission });
  return { answer, body: parse(url, answer.body) };
}

function parse(url: URL, bytes: Buffer): Json {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    // The parser's error is left out: it quotes the text, which may be personal data.
    throw unexpected(url, "is not JSON");
  }
  if (!isObject(body)) throw unexpected(url, "is not a JSON object");
  return body;
}

export function unexpected(url: URL, what: string): Fault {
  return fault(
    "unexpected_answer",
    `the answer of ${url.origin}${url.pathname} ${what}; check that --from-pretix names a pretix, and its version`,
  );
}

function explainRefusal(
  pretix: Pretix,
  { url, answer, permission }: { url: URL; answer: Answer; permission: string },
): Fault {
  const address = `${pretix.origin}${url.pathname}`;
  if (answer.status === 401) return fault("pretix_token_unknown", `pretix does not know the token (401 at ${address})`);
  if (answer.status === 403)
    return fault(
      "pretix_permission_missing",
      `pretix refuses ${address} (403): the team of the token needs ${permission}; it answers the same when there is no such organizer or event`,
    );
  if (answer.status === 404)
    return fault(
      "pretix_not_found",
      `pretix has nothing at ${address} (404): check the address and the names of organizer and event; the token needs ${permission}`,
    );
  if (answer.status >= 300 && answer.status < 400)
    return fault(
      "pretix_redirects",
      `${address} redirects to ${URL.parse(answer.headers.get("location") ?? "", url.href)?.origin ?? "elsewhere"}; pass the address that pretix itself uses`,
    );
  return unexpected(url, `has HTTP status ${answer.status}`);
}
