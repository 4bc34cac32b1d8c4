/** Finds the name that was probably meant; undefined: all are more than so many edits away, which make another name. */
export function closestName(
  sent: string,
  names: readonly string[],
  { mostEdits = 3 }: { readonly mostEdits?: number } = {},
): string | undefined {
  const measured = names
    .filter((name) => Math.abs(name.length - sent.length) <= mostEdits)
    .map((name) => ({ name, edits: countEdits(sent, name) }));
  const [closest] = measured.toSorted((one, other) => one.edits - other.edits);
  return closest !== undefined && closest.edits <= mostEdits ? closest.name : undefined;
}

/** Counts the letters to insert, remove, replace or exchange with their neighbour that make one text of the other. */
function countEdits(one: string, other: string): number {
  let earlier: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let at = 1; at <= one.length; at += 1) {
    const next = [at];
    for (let to = 1; to <= other.length; to += 1) {
      const isSame = one[at - 1] === other[to - 1];
      const isExchanged = at > 1 && to > 1 && one[at - 1] === other[to - 2] && one[at - 2] === other[to - 1];
      const edits = [(row[to - 1] ?? 0) + (isSame ? 0 : 1), (row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1];
      if (isExchanged) edits.push((earlier[to - 2] ?? 0) + 1);
      next.push(Math.min(...edits));
    }
    [earlier, row] = [row, next];
  }
  return row.at(-1) ?? 0;
}
