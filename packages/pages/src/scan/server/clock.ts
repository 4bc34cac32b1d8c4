import { signal } from "@preact/signals";
import { ServerClock } from "./server-clock.ts";

const key = "tessera-scanner-clock";

const server = new ServerClock(Number(globalThis.localStorage?.getItem(key) ?? 0));

/** Less is the time that answers take, and that a header is rounded by. */
const leastMs = 2000;

/** From here on a crew is told: times that they see would mislead them. */
const toldFromMs = 2 * 60_000;

/** How far the clock of this device is ahead of the server's, in milliseconds; negative: behind; 0: it is right. */
export const clockAhead = signal(round(-server.ahead));

/** Learns from the date in an answer, and keeps it for a start without a network. The instants are those of this device. */
export function compareClocks(date: string | null, times: { readonly asked: number; readonly came: number }): void {
  const said = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(said) || times.came < times.asked) return;
  server.hear(said, times);
  const ahead = round(-server.ahead);
  // It does not waver with each answer.
  if (ahead !== 0 && Math.abs(ahead - clockAhead.value) < leastMs) return;
  if (ahead === clockAhead.value) return;
  clockAhead.value = ahead;
  globalThis.localStorage?.setItem(key, String(-ahead));
}

function round(ahead: number): number {
  return Math.abs(ahead) < leastMs ? 0 : Math.round(ahead);
}

/** The time by the server's clock, as far as it is known, in milliseconds. */
export function now(): number {
  return Math.round(Date.now() + server.ahead);
}

/** How wrong the clock is, where a crew has to know. */
export function clockTrouble(ahead: number): { readonly isFast: boolean; readonly byMs: number } | undefined {
  return Math.abs(ahead) < toldFromMs ? undefined : { isFast: ahead > 0, byMs: Math.abs(ahead) };
}
