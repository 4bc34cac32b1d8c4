import type { Fault } from "@tessera/kit/fault";
import { arrayOf, integer, object, text } from "@tessera/schema/build";
import type { Schema } from "@tessera/schema/schema";
import { fault } from "../faults.ts";
import type { Parameter } from "./parameter.ts";
import type { PublicUrl } from "./public-url.ts";

/** The default, and the maximum. */
const largestPage = 50;

/** Services take this number for the last page. */
const lastPage = 0;

/** Pages are int32 between services. */
const highestPage = 2 ** 31 - 1;

const page: Parameter<number> = {
  description: "Number of the page, from 1; the word `last` is read, too.",
  // The word is no part of the schema: generated clients have one type for a parameter.
  schema: { type: "integer", minimum: 1, default: 1 },
  repeatable: false,
  read: (sent) => {
    const last = sent.at(-1);
    if (last === undefined) return { value: 1 };
    if (last === "last") return { value: lastPage };
    const number = /^\s*\+?\d{1,10}\s*$/.test(last) ? Number(last) : 0;
    return number >= 1 && number <= highestPage ? { value: number } : { fault: noSuchPage() };
  },
};

const pageSize: Parameter<number> = {
  description: `Results per page, 1 to ${largestPage}. More is cut to ${largestPage}, anything else is ignored.`,
  schema: { type: "integer", default: largestPage },
  repeatable: false,
  read: (sent) => {
    const number = /^\s*\+?\d+\s*$/.test(sent.at(-1) ?? "") ? Number(sent.at(-1)) : 0;
    return { value: number < 1 ? largestPage : Math.min(number, largestPage) };
  },
};

/** The parameters of every list. */
export const paging = { page, page_size: pageSize } as const;

/** Cursors of services are shorter. */
const longestCursor = 200;

/** The parameter of lists with keyset pagination. */
export const cursor: Parameter<string | undefined> = {
  description: "Set in `next` of long lists. In any other request it is ignored.",
  schema: { type: "string" },
  repeatable: false,
  read: (sent) => ({ value: sent.at(-1)?.slice(0, longestCursor) }),
};

export interface FoundPage<R> {
  /** The number of results on all pages. */
  readonly count: number;
  readonly page: number;
  readonly pageSize: number;
  readonly results: readonly R[];
  /** Undefined: the next page is found by its number. Without a cursor: this is the last page. */
  readonly next?: { readonly cursor?: string | undefined } | undefined;
}

export interface Page<R> {
  readonly count: number;
  readonly next: string | null;
  readonly previous: string | null;
  readonly results: readonly R[];
}

/** Makes the answer of a list: a page with links to its neighbors. */
export function toPage<R>(url: PublicUrl, { count, page, pageSize: size, results, next }: FoundPage<R>): Page<R> {
  const pages = Math.max(1, Math.ceil(count / size));
  if (page < 1 || (next === undefined && page > pages)) throw noSuchPage();
  const hasNext = next === undefined ? page < pages : next.cursor !== undefined;
  const search = new URLSearchParams(url.search);
  // Each page has its own cursor.
  if (next !== undefined) search.delete("cursor");
  const link = (number: number, behind?: string) => url.withSearch(searchFor(search, { number, cursor: behind }));
  return {
    count,
    next: hasNext ? link(page + 1, next?.cursor) : null,
    previous: page > 1 ? link(page - 1) : null,
    results,
  };
}

/** The query of another page: every parameter as it was sent, ordered by name, without `page=1`. */
function searchFor(
  sent: URLSearchParams,
  { number, cursor: behind }: { readonly number: number; readonly cursor: string | undefined },
): URLSearchParams {
  const search = new URLSearchParams(sent);
  search.delete("page");
  if (number > 1) search.set("page", String(number));
  if (behind !== undefined) search.set("cursor", behind);
  search.sort();
  return search;
}

function noSuchPage(): Fault {
  return fault("page_not_found", "Invalid page.");
}

export function pageOf(results: Schema) {
  const link = (description: string) => text({ nullable: true, description });
  return object(
    {
      count: integer({ description: "The results of all pages." }),
      next: link("Address of the next page."),
      previous: link("Address of the page before."),
      results: arrayOf(results),
    },
    { required: ["count", "next", "previous", "results"], closed: true },
  );
}
