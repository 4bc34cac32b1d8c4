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

/** One page as a service has found it. */
export interface FoundPage<R> {
  /** The results of all pages. */
  readonly count: number;
  /** The page that was served. */
  readonly page: number;
  readonly pageSize: number;
  readonly results: readonly R[];
}

export interface Page<R> {
  readonly count: number;
  readonly next: string | null;
  readonly previous: string | null;
  readonly results: readonly R[];
}

/** Makes the answer of a list: a page, with links to its neighbours. */
export function toPage<R>(url: PublicUrl, found: FoundPage<R>): Page<R> {
  const pages = Math.max(1, Math.ceil(found.count / found.pageSize));
  if (found.page < 1 || found.page > pages) throw noSuchPage();
  return {
    count: found.count,
    next: found.page < pages ? linkTo(url, found.page + 1) : null,
    previous: found.page > 1 ? linkTo(url, found.page - 1) : null,
    results: found.results,
  };
}

/** Links the same request for another page: every parameter as it was sent, ordered by name, page 1 without its number. */
function linkTo(url: PublicUrl, number: number): string {
  const search = new URLSearchParams(url.search);
  search.delete("page");
  if (number > 1) search.set("page", String(number));
  search.sort();
  return url.withSearch(search);
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
