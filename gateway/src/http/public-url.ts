/** The address of a request as clients know it: the configured base, with path and query as they were sent. */
export interface PublicUrl {
  /** Without a slash at its end. */
  readonly base: string;
  readonly path: string;
  readonly search: URLSearchParams;
  withSearch(search: URLSearchParams): string;
}

/** Makes the address of a request. It ignores the Host header, which the caller chooses. */
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
