/** Shorter names are words of their own, one letter from many others. */
const shortest = 8;

/** Finds the name that differs from another by one letter: added, left out, replaced, or exchanged with its neighbour. */
export function findAlmostEqual(name: string, candidates: readonly string[]): string | undefined {
  return candidates.find((candidate) => candidate.length >= shortest && isAlmostEqual(name, candidate));
}

function isAlmostEqual(a: string, b: string): boolean {
  if (a === b || Math.abs(a.length - b.length) > 1) return false;
  let same = 0;
  while (same < a.length && a[same] === b[same]) same += 1;
  const [left, right] = [a.slice(same), b.slice(same)];
  const isExchanged =
    left.length >= 2 && left[0] === right[1] && left[1] === right[0] && left.slice(2) === right.slice(2);
  return isExchanged || left.slice(1) === right.slice(1) || left.slice(1) === right || left === right.slice(1);
}
