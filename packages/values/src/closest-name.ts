/** More names are too far from what was sent to be meant. */
const mostEdits = 3;

/** Finds the name that was probably meant; undefined: all are too different. */
export function closestName(sent: string, names: readonly string[]): string | undefined {
  const measured = names
    .filter((name) => Math.abs(name.length - sent.length) <= mostEdits)
    .map((name) => ({ name, edits: countEdits(sent, name) }));
  const [closest] = measured.toSorted((one, other) => one.edits - other.edits);
  return closest !== undefined && closest.edits <= mostEdits ? closest.name : undefined;
}

/** Counts the letters to insert, remove or replace that make one text of the other: the distance of Levenshtein. */
function countEdits(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (let at = 0; at < other.length; at += 1) {
      const replaced = (row[at] ?? 0) + (letter === other[at] ? 0 : 1);
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
