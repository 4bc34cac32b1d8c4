/** The public address of a request: the configured base, with path and query as they were sent. */
export type PublicUrl = ReturnType<typeof publicUrl>;

/** Makes the address of a request. The Host header is ignored, because the caller chooses it. */
export function publicUrl(base: string, path: string, search: URLSearchParams) {
  return {
    /** Without a trailing slash. */
    base,
    search,
    withSearch(other: URLSearchParams): string {
      return other.size === 0 ? `${base}${path}` : `${base}${path}?${other.toString()}`;
    },
  };
}
