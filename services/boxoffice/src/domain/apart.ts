/** Sorts a list into so many parts, one behind the other: what was next to each other is in different ones. */
export function apart<T>(list: readonly T[], parts: number): T[] {
  return Array.from({ length: parts }, (_, part) => list.filter((__, at) => at % parts === part)).flat();
}
