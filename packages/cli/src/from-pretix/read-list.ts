import { isObject } from "@tessera/values";
import { fault } from "../faults.ts";
import type { Answer, Pretix } from "./ask-pretix.ts";
import { type Json, type Reading, readAnswer, unexpected } from "./read-answer.ts";

export interface Page {
  readonly results: readonly Json[];
  /** Of the whole list. */
  readonly count: number;
  readonly headers: Headers;
}

type Pages = AsyncGenerator<Page, void>;

/** The list has not changed. */
export const unchanged = Symbol("unchanged");
/** There is no such list, or the token may not read it. */
export const withheld = Symbol("withheld");

/**
 * Reads a list page by page, with a page of read-ahead. The first page is read at once: it shows whether the list
 * exists.
 */
export async function readList(
  pretix: Pretix,
  url: URL,
  reading: Reading & { readonly ifModifiedSince?: string | undefined },
): Promise<Pages | typeof unchanged | typeof withheld> {
  const condition = reading.ifModifiedSince;
  const headers = condition === undefined ? {} : { "if-modified-since": condition };
  const { answer, body } = await readAnswer(pretix, url, {
    ...reading,
    expected: [...(reading.expected ?? []), ...(condition === undefined ? [] : [304])],
    headers,
  });
  if (answer.status === 304) return unchanged;
  if (answer.status !== 200) return withheld;
  return readPages(pretix, toPage(url, { answer, body, pretix }), reading);
}

interface LinkedPage extends Page {
  readonly next: URL | undefined;
}

async function* readPages(pretix: Pretix, first: LinkedPage, reading: Reading): Pages {
  for (let page: LinkedPage | undefined = first; page !== undefined; ) {
    const following: Promise<LinkedPage | undefined> = readNext(pretix, page.next, reading);
    // After an early stop this is not awaited.
    following.catch(() => {});
    yield page;
    page = await following;
  }
}

async function readNext(pretix: Pretix, url: URL | undefined, reading: Reading): Promise<LinkedPage | undefined> {
  if (url === undefined) return undefined;
  // A list that shrinks during the read ends before the announced page.
  const { answer, body } = await readAnswer(pretix, url, { permission: reading.permission, expected: [404] });
  return answer.status === 404 ? undefined : toPage(url, { answer, body, pretix });
}

function toPage(url: URL, { answer, body, pretix }: { answer: Answer; body: Json; pretix: Pretix }): LinkedPage {
  const { results, count, next } = body;
  if (!Array.isArray(results) || !results.every(isObject)) throw unexpected(url, "is not a list");
  return {
    results,
    count: typeof count === "number" ? count : results.length,
    headers: answer.headers,
    next: next === null || next === undefined ? undefined : toNext(url, { next, pretix }),
  };
}

function toNext(url: URL, { next, pretix }: { next: unknown; pretix: Pretix }): URL {
  const parsed = typeof next === "string" ? URL.parse(next, url.href) : null;
  if (parsed === null) throw unexpected(url, "names no next page that is a URL");
  if (parsed.origin !== pretix.origin)
    throw fault(
      "foreign_next_page",
      `pretix at ${pretix.origin} names a next page at ${parsed.origin}, which would get the token; pass the address that pretix itself uses, or correct its SITE_URL and proxy`,
    );
  // Pages in a cycle would be read for ever.
  if (pageOf(parsed) <= pageOf(url)) throw unexpected(url, "leads back to a page that was read");
  return parsed;
}

function pageOf(url: URL): number {
  const page = Number(url.searchParams.get("page") ?? "1");
  return Number.isInteger(page) ? page : 0;
}
