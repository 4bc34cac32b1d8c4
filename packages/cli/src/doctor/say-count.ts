/** Says how many there are of something: `1 fact`, `7 facts`. */
export function sayCount(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? "" : "s"}`;
}
