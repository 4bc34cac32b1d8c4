/** One page of a list, as the interface answers it. */
export interface ListPage<T> {
  readonly results: readonly T[];
  readonly next: string | null;
}

export interface Listed<T> {
  readonly kind: "listed";
  readonly results: readonly T[];
}

/** A server that always has another page keeps no reader for ever. No choice of a person is as long. */
const mostPages = 40;

/** Reads a list page by page, until there is no next one; or returns what came instead of a page. */
export async function readPages<T, F extends { readonly kind: string }>(
  path: string,
  readPage: (path: string) => Promise<ListPage<T> | F>,
): Promise<Listed<T> | F> {
  const results: T[] = [];
  for (let number = 1; number <= mostPages; number += 1) {
    // The address in `next` is the public one: this page may be open at another.
    const page = await readPage(`${path}${path.includes("?") ? "&" : "?"}page=${number}`);
    if ("kind" in page) return page;
    results.push(...page.results);
    if (page.next === null) break;
  }
  return { kind: "listed", results };
}
