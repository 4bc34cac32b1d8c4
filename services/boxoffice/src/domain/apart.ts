/** Interleaves a list into this many parts, so that neighbours are in different parts. */
export function apart<T>(list: readonly T[], parts: number): T[] {
  return Array.from({ length: parts }, (_, part) => list.filter((__, at) => at % parts === part)).flat();
}
