/** Enough to find an API key, and the whole id of a device. A whole hash would allow offline guessing of tokens. */
const shownLength = 16;

export function shortenId(id: string): string {
  return id.slice(0, shownLength);
}
