/** Enough to tell names apart, and little enough for an index. */
const mostCharacters = 100;

/** What a ticket is sorted by among others by name; null for one without a name. */
export function toSortName(name: string | null | undefined): string | null {
  const letters = [...(name ?? "").toLowerCase()].slice(0, mostCharacters);
  return letters.length === 0 ? null : letters.join("");
}
