/** The steps of a fact from the one who writes it to the one who acts on it, as far as a process may die between them. */
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

/** The same at some moment soon, while what was begun goes on. */
export function crashSoon(point: CrashPoint): void {
  if (point === wanted) setTimeout(() => passCrashPoint(point), Math.random() * 10);
}
