import type { Fault } from "@tessera/kit/fault";
import { arrayOf, integer, object, text } from "@tessera/schema/build";
import type { Schema } from "@tessera/schema/schema";
import { fault } from "../faults.ts";
import type { Parameter } from "./parameter.ts";
import type { PublicUrl } from "./public-url.ts";

/** The default, and the maximum. */
const largestPage = 50;

/** Services understand this number as the last page. */
const lastPage = 0;

/** Pages are counted in 32 bits between services. */
const highestPage = 2 ** 31 - 1;

const page: Parameter<number> = {
  description: "Number of the page, from 1, or `last`.",
  schema: { type: ["integer", "string"], default: 1 },
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
  schema: { type: "integer", minimum: 1, default: largestPage },
  repeatable: false,
  read: (sent) => {
    const number = /^\s*\+?\d+\s*$/.test(sent.at(-1) ?? "") ? Number(sent.at(-1)) : 0;
    return { value: number < 1 ? largestPage : Math.min(number, largestPage) };
  },
};

/** The parameters of every list. */
export const paging = { page, page_size: pageSize } as const;

/** Cursors of services are shorter. */
const longestCursor = 4000;

/** The parameter of lists whose pages are linked by the results beside them. */
export const cursor: Parameter<string | undefined> = {
  description: "Set in `next` and `previous` of long lists. In any other request it is ignored.",
  schema: { type: "string" },
  repeatable: false,
  read: (sent) => ({ value: sent.at(-1)?.slice(0, longestCursor) }),
};

/** One page as a service has found it. */
export interface FoundPage<R> {
  /** The results of all pages. */
  readonly count: number;
  /** The page that was served. */
  readonly page: number;
  readonly pageSize: number;
  readonly results: readonly R[];
  /** How the pages beside it are found, if not by their numbers alone. */
  readonly neighbors?: Neighbors | undefined;
}

/** The pages beside one; those that are left out do not exist. */
export interface Neighbors {
  readonly next?: Neighbor | undefined;
  readonly previous?: Neighbor | undefined;
}

export interface Neighbor {
  /** Leads to the page beside its number. */
  readonly cursor?: string | undefined;
}

export interface Page<R> {
  readonly count: number;
  readonly next: string | null;
  readonly previous: string | null;
  readonly results: readonly R[];
}

/** Makes the answer of a list: a page, with links to its neighbors. */
export function toPage<R>(url: PublicUrl, found: FoundPage<R>): Page<R> {
  const { next, previous } = found.neighbors ?? neighborsOf(found);
  const search = new URLSearchParams(url.search);
  // Another page has another one.
  if (found.neighbors !== undefined) search.delete("cursor");
  const link = (number: number, neighbor: Neighbor | undefined) =>
    neighbor === undefined ? null : url.withSearch(searchFor(search, { number, ...neighbor }));
  return {
    count: found.count,
    next: link(found.page + 1, next),
    previous: link(found.page - 1, previous),
    results: found.results,
  };
}

function neighborsOf({ count, page: served, pageSize: size }: Omit<FoundPage<unknown>, "results">): Neighbors {
  const pages = Math.max(1, Math.ceil(count / size));
  if (served < 1 || served > pages) throw noSuchPage();
  return { ...(served < pages && { next: {} }), ...(served > 1 && { previous: {} }) };
}

/** The same request for another page: every parameter as it was sent, ordered by name, page 1 without its number. */
function searchFor(
  sent: URLSearchParams,
  { number, cursor: sealed }: Neighbor & { readonly number: number },
): URLSearchParams {
  const search = new URLSearchParams(sent);
  search.delete("page");
  if (number > 1) search.set("page", String(number));
  if (sealed !== undefined) search.set("cursor", sealed);
  search.sort();
  return search;
}

function noSuchPage(): Fault {
  return fault("page_not_found", "Invalid page.");
}

/** Describes the answer of a list. */
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
