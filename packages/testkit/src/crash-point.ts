/** The steps of a fact from its writer to its consumer, between which a process may die. */
export const crashPoints = [
  "write.published",
  "write.committed",
  "relay.read",
  "relay.publishing",
  "relay.published",
  "relay.deleted",
  "consume.delivered",
  "consume.acted",
  "consume.committed",
  "consume.acknowledging",
] as const;

export type CrashPoint = (typeof crashPoints)[number];

const [wanted, times = "1"] = (process.env["CRASH_AT"] ?? "").split(" ");
let left = Number(times);

/** Ends this process as `kill -9` does, if CRASH_AT names this step (`relay.published 3`: the third time it is passed). */
export function passCrashPoint(point: CrashPoint): void {
  if (point !== wanted) return;
  left -= 1;
  if (left === 0) process.kill(process.pid, "SIGKILL");
}

/** The same a moment later, while the current work goes on. */
export function crashSoon(point: CrashPoint): void {
  if (point === wanted) setTimeout(() => passCrashPoint(point), Math.random() * 10);
}
