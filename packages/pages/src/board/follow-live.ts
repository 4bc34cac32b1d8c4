import { type ReadonlySignal, signal } from "@preact/signals";
import type { LastHour, Live } from "./live.ts";
import { addressOf, ask, askAll } from "./server.ts";

/** What is known of an event, kept up to date. */
export interface Followed {
  readonly live: ReadonlySignal<Live | undefined>;
  /** Milliseconds since the newest state came, by the clock of this device. */
  readonly age: ReadonlySignal<number>;
  readonly hour: ReadonlySignal<LastHour | undefined>;
  readonly gateNames: ReadonlySignal<ReadonlyMap<number, string>>;
  /** Tells that somebody has seen an alarm; false: the server did not take it. */
  acknowledge(alarm: number): Promise<boolean>;
  end(): void;
}

interface Named {
  readonly id: number;
  readonly name: string;
}

const hourEveryMs = 15_000;
const namesEveryMs = 300_000;
const checkEveryMs = 5000;

/** Follows an event until it is ended. `onRefused` is called when the server no longer tells of it. */
export function followLive(
  { organizer, event }: { readonly organizer: string; readonly event: string },
  onRefused: (status: number) => void,
): Followed {
  const inEvent = `organizers/${organizer}/events/${event}`;
  const live = signal<Live | undefined>(undefined);
  const age = signal(0);
  const hour = signal<LastHour | undefined>(undefined);
  const gateNames = signal<ReadonlyMap<number, string>>(new Map());
  let isEnded = false;
  let heardAt = performance.now();
  let checkedAt = heardAt;

  // It connects again by itself, unless the answer was a refusal.
  let source = connect();
  function connect(): EventSource {
    const made = new EventSource(addressOf(`${inEvent}/live/`));
    made.onmessage = ({ data }: MessageEvent<string>) => take(JSON.parse(data) as Live);
    return made;
  }

  function take(state: Live): void {
    live.value = state;
    heardAt = performance.now();
    age.value = 0;
  }

  /** A connection may be dead without a word: what comes by another one is as new, and another stream begins. */
  async function check(): Promise<void> {
    checkedAt = performance.now();
    const answer = await ask<Live>(`${inEvent}/live/`);
    if (isEnded) return;
    if (answer.kind === "refused") return onRefused(answer.status);
    if (answer.kind === "away") return;
    take(answer.body);
    source.close();
    source = connect();
  }

  async function readHour(): Promise<void> {
    const answer = await ask<LastHour>(`${inEvent}/live/hour/`);
    if (answer.kind === "success") hour.value = answer.body;
  }

  async function readNames(): Promise<void> {
    const answer = await askAll<Named>(`organizers/${organizer}/gates/`);
    if (answer.kind === "listed") gateNames.value = new Map(answer.results.map(({ id, name }) => [id, name]));
  }

  const timers = [
    setInterval(() => {
      const now = performance.now();
      age.value = now - heardAt;
      if (now - heardAt > checkEveryMs && now - checkedAt > checkEveryMs) void check();
    }, 1000),
    setInterval(() => void readHour(), hourEveryMs),
    setInterval(() => void readNames(), namesEveryMs),
  ];
  void readHour();
  void readNames();
  return {
    ...{ live, age, hour, gateNames },
    async acknowledge(alarm) {
      const answer = await ask(`${inEvent}/alarms/${alarm}/acknowledge/`, { method: "POST" });
      return answer.kind === "success";
    },
    end() {
      isEnded = true;
      source.close();
      for (const timer of timers) clearInterval(timer);
    },
  };
}
