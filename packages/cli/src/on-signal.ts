/** The first signal requests an orderly stop. The second ends the process at once, with the status of the signal. */
export function onSignal(): { requested: Promise<void>; signal: AbortSignal } {
  const controller = new AbortController();
  const requested = new Promise<void>((resolveRequested) => {
    for (const name of ["SIGINT", "SIGTERM"] as const) {
      process.on(name, () => {
        if (controller.signal.aborted) process.exit(name === "SIGINT" ? 130 : 143);
        controller.abort();
        resolveRequested();
      });
    }
  });
  return { requested, signal: controller.signal };
}
