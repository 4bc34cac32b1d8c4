/** Finds the name that a misspelled one was probably meant to be; undefined where none is near enough. */
export function closestName(given: string, names: readonly string[]): string | undefined {
  const written = given.toUpperCase();
  const found = names
    .map((name) => ({ name, distance: distance(written, name) }))
    .filter(({ name, distance: far }) => far <= tolerance(name))
    .sort((a, b) => a.distance - b.distance);
  return found[0]?.name;
}

/** A short name is near to too many others. */
function tolerance({ length }: string): number {
  if (length < 6) return 0;
  return length < 10 ? 1 : 2;
}

/** How many letters were added, left out, exchanged or swapped with their neighbor. */
function distance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const swapped =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
          ? (beforeLast[column - 2] ?? 0) + 1
          : Number.POSITIVE_INFINITY;
      current.push(
        Math.min(
          (last[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          (last[column - 1] ?? 0) + (isSame ? 0 : 1),
          swapped,
        ),
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}
