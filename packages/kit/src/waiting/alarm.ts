/** Pauses one loop, and lets others end its pauses early. */
export interface Alarm {
  readonly stopped: boolean;
  /** Ends all pauses, also later ones. */
  stop(): void;
  /** Ends the light pause under way, or the next one. */
  ring(): void;
  /** Pauses. A ring ends it if it is `lightly`. */
  pause(ms: number, options?: { lightly?: boolean }): Promise<void>;
}

/** Makes an alarm for one loop. Any number of callers may ring it. */
export function createAlarm(): Alarm {
  let stopped = false;
  let rung = false;
  /** The pauses under way, by the function that ends each. */
  const sleepers = new Map<() => void, { lightly: boolean }>();

  return {
    get stopped() {
      return stopped;
    },
    stop() {
      stopped = true;
      for (const wake of [...sleepers.keys()]) wake();
    },
    ring() {
      rung = true;
      for (const [wake, { lightly }] of [...sleepers]) if (lightly) wake();
    },
    async pause(ms, { lightly = false } = {}) {
      if (!stopped && !(lightly && rung)) {
        await new Promise<void>((resolve) => {
          const wake = () => {
            clearTimeout(timer);
            sleepers.delete(wake);
            resolve();
          };
          const timer = setTimeout(wake, ms);
          sleepers.set(wake, { lightly });
        });
      }
      if (lightly) rung = false;
    },
  };
}
