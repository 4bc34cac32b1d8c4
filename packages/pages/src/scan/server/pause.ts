/** Waits, at most until told to stop. */
export function pause(ms: number, stopped: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms);
    function end() {
      clearTimeout(timer);
      stopped.removeEventListener("abort", end);
      resolve();
    }
    stopped.addEventListener("abort", end);
  });
}
