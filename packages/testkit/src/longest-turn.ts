/**
 * The processor time of the longest turn of the event loop during some work, in milliseconds: the least of several tries. Time on
 * the clock would include what other processes of the machine take.
 */
export async function longestTurn(work: () => Promise<unknown>, { tries = 12, enoughMs = 0 } = {}): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let tried = 0; tried < tries && least > enoughMs; tried += 1) {
    let [longest, isOver] = [0, false];
    let last = process.threadCpuUsage();
    const lookAgain = () => {
      const { user, system } = process.threadCpuUsage(last);
      longest = Math.max(longest, (user + system) / 1000);
      last = process.threadCpuUsage();
      if (!isOver) setImmediate(lookAgain);
    };
    setImmediate(lookAgain);
    await work();
    isOver = true;
    least = Math.min(least, longest);
  }
  return least;
}
