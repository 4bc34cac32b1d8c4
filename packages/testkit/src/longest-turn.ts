/** What `reference` takes on the processor that limits are written for, in milliseconds. */
const usualMs = 25;

const text = JSON.stringify(
  Array.from({ length: 8000 }, (_, id) => ({ id, code: `code-${id}`, comment: "x\u{1f600}".repeat(10) })),
);

/** Work like that of a service with a large body, long enough for the clock of processor time. */
function reference(): void {
  for (let times = 0; times < 10; times += 1) JSON.stringify(JSON.parse(text));
}

/**
 * The processor time of the longest turn of the event loop during some work, in milliseconds of the usual processor: the least of
 * several tries. Time on the clock would include what other processes of the machine take. The same work takes several times
 * longer on a slow or busy processor, so each try is compared with known work beside it.
 */
export async function longestTurn(work: () => Promise<unknown>, { tries = 12, enoughMs = 0 } = {}): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let tried = 0; tried < tries && least > enoughMs; tried += 1) {
    let [longest, isOver] = [0, false];
    const before = timeOf(reference);
    let last = process.threadCpuUsage();
    const lookAgain = () => {
      const { user, system } = process.threadCpuUsage(last);
      longest = Math.max(longest, (user + system) / 1000);
      last = process.threadCpuUsage();
      if (!isOver) setImmediate(lookAgain);
    };
    setImmediate(lookAgain);
    try {
      await work();
    } finally {
      isOver = true;
    }
    lookAgain();
    const slowness = Math.min(before, timeOf(reference)) / usualMs;
    least = Math.min(least, longest / slowness);
  }
  return least;
}

/** The processor time of some work of this thread, in milliseconds. */
function timeOf(work: () => void): number {
  const start = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1000;
}
