/** The address of the request as the world outside knows it: configured base, path and query as they were sent. */
export interface PublicUrl {
  /** Without a slash at its end. */
  readonly base: string;
  readonly path: string;
  readonly search: URLSearchParams;
  withSearch(search: URLSearchParams): string;
}

/** Makes the address of a request. The Host header plays no part in it: a caller could choose that. */
export function publicUrl(base: string, path: string, search: URLSearchParams): PublicUrl {
  return {
    base,
    path,
    search,
    withSearch(other) {
      const query = other.toString();
      return query === "" ? `${base}${path}` : `${base}${path}?${query}`;
    },
  };
}
