import { type Listed, type ListPage, readPages } from "../ui/read-pages.ts";

/** What a request came to. */
export type Answer<T> = { readonly kind: "success"; readonly body: T } | Failure;

type Failure =
  | { readonly kind: "refused"; readonly status: number; readonly detail: string }
  /** No answer, or one that says to ask later. */
  | { readonly kind: "away" };

export interface Request {
  readonly method?: "GET" | "POST" | "DELETE";
  readonly body?: unknown;
  readonly timeoutMs?: number;
  /** Aborts when the answer is needed no more. */
  readonly signal?: AbortSignal;
}

/** The address of a route, relative to the page: a proxy may serve everything below a path of its own. */
export function addressOf(path: string): string {
  return new URL(`../api/v1/${path}`, document.baseURI).href;
}

/** Sends a request to the interface, with the cookie of the session. */
export async function ask<T>(
  path: string,
  { method = "GET", body, timeoutMs = 10_000, signal }: Request = {},
): Promise<Answer<T>> {
  const ends = [AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])];
  try {
    const response = await fetch(addressOf(path), {
      method,
      headers: { accept: "application/json", ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.any(ends),
      cache: "no-store",
      credentials: "same-origin",
    });
    if (response.status === 429 || response.status >= 500) return { kind: "away" };
    const text = await response.text();
    const read: unknown = text === "" ? undefined : JSON.parse(text);
    if (response.ok) return { kind: "success", body: read as T };
    return { kind: "refused", status: response.status, detail: detailOf(read) };
  } catch {
    return { kind: "away" };
  }
}

/** The sentences of an error: its detail, or what it says of fields. */
function detailOf(body: unknown): string {
  if (typeof body !== "object" || body === null) return "";
  const { detail } = body as { readonly detail?: unknown };
  return typeof detail === "string" ? detail : Object.values(body).flat().join(" ");
}

/** Reads all pages of a list. */
export function askAll<T>(path: string): Promise<Listed<T> | Failure> {
  return readPages<T, Failure>(path, async (page) => {
    const answer = await ask<ListPage<T>>(page);
    return answer.kind === "success" ? answer.body : answer;
  });
}
