/** The address of a request as clients know it: the configured base, with path and query as they were sent. */
export type PublicUrl = ReturnType<typeof publicUrl>;

/** Makes the address of a request. It ignores the Host header, which the caller chooses. */
export function publicUrl(base: string, path: string, search: URLSearchParams) {
  return {
    /** Without a slash at its end. */
    base,
    search,
    withSearch(other: URLSearchParams): string {
      return other.size === 0 ? `${base}${path}` : `${base}${path}?${other.toString()}`;
    },
  };
}
