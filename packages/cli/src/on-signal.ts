/** npm passes on what a terminal has sent to all processes in it: one Ctrl-C comes twice. People are slower. */
const repeatedMs = 1000;

/** The first signal requests an orderly stop. One that comes later ends the process at once, with the status of the signal. */
export function onSignal(): { requested: Promise<void>; signal: AbortSignal } {
  const controller = new AbortController();
  let firstAt = 0;
  const requested = new Promise<void>((resolveRequested) => {
    for (const name of ["SIGINT", "SIGTERM"] as const) {
      process.on(name, () => {
        if (controller.signal.aborted) {
          if (performance.now() - firstAt > repeatedMs) process.exit(name === "SIGINT" ? 130 : 143);
          return;
        }
        firstAt = performance.now();
        controller.abort();
        resolveRequested();
      });
    }
  });
  return { requested, signal: controller.signal };
}
