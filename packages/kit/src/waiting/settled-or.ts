/** Waits until all work is done, but no longer than the time. */
export async function settledOr(ms: number, work: readonly Promise<void>[]): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  try {
    await Promise.race([Promise.all(work), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
