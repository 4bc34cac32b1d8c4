/** A flood of calls that are refused must not fill the log. */
const quietMs = 60_000;

/** Counts; returns how many there were since the last line of the log when another line is due. */
export function countSeldom(): () => number | undefined {
  let count = 0;
  let next = 0;
  return () => {
    count += 1;
    if (performance.now() < next) return undefined;
    next = performance.now() + quietMs;
    const counted = count;
    count = 0;
    return counted;
  };
}
