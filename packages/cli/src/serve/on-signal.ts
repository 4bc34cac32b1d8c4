/** npm forwards signals that the terminal has sent to all its processes: one Ctrl-C comes twice. People are slower. */
const repeatedMs = 1000;

/** The signals that request a stop, with the exit status of a process that they end. A closed terminal sends SIGHUP. */
const statuses = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

type StopSignal = keyof typeof statuses;

/** The first signal requests an orderly stop. A later one ends the process at once, with the status of the signal. */
export function onSignal(): { requested: Promise<void>; signal: AbortSignal } {
  const controller = new AbortController();
  let firstAt = 0;
  if (process.stderr.isTTY) outliveTerminal();
  const requested = new Promise<void>((resolveRequested) => {
    forEachSignal((name) => {
      if (controller.signal.aborted) {
        if (performance.now() - firstAt > repeatedMs) process.exit(statuses[name]);
        return;
      }
      firstAt = performance.now();
      outliveTerminal();
      if (process.stderr.isTTY) process.stderr.write("\r\u001b[2Kstopping…\n");
      controller.abort();
      resolveRequested();
    });
  });
  return { requested, signal: controller.signal };
}

/** Signals end the process at once, after its exit listeners: engines end with it. */
export function endOnSignal(): void {
  forEachSignal((name) => process.exit(statuses[name]));
}

function forEachSignal(act: (name: StopSignal) => void): void {
  for (const name of Object.keys(statuses) as StopSignal[]) process.on(name, () => act(name));
}

/** Terminal or pipe may be gone with the same signal; failed output must not prevent the stop. */
function outliveTerminal(): void {
  for (const stream of [process.stdout, process.stderr])
    if (!stream.listeners("error").includes(ignore)) stream.on("error", ignore);
}

function ignore(): void {}
