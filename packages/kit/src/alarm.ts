/** Lets one loop pause, and others cut its pauses short. */
export interface Alarm {
  readonly stopped: boolean;
  /** Ends for good: no pause lasts any longer. */
  stop(): void;
  /** Ends the light sleep under way, or else the next one. */
  ring(): void;
  /** Pauses; `lightly` lets a ring end it. */
  pause(ms: number, options?: { lightly?: boolean }): Promise<void>;
}

/** Makes an alarm for one loop; any number may ring it. */
export function createAlarm(): Alarm {
  let stopped = false;
  let rung = false;
  /** Pauses under way, by what ends them. */
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
