import { printable } from "../printable.ts";

/** Which events something is good for, in words. */
export function describeEvents({
  all_events: all,
  events,
}: {
  all_events: boolean;
  events: readonly string[];
}): string {
  if (all) return "all events";
  return events.length === 0 ? "no event" : events.map(printable).join(", ");
}

/** Prints a new token alone, so that scripts can take it, and on standard error what it is. */
export function tellCreated({ token, settled }: { token: string; settled: boolean }, explanation: string): void {
  process.stderr.write(`${explanation}\nIts token is shown this once; only its hash is kept.\n`);
  if (!settled) process.stderr.write(notSettled);
  process.stdout.write(`${token}\n`);
}

/** Prints what was revoked. */
export function tellRevoked(what: string, { settled }: { settled: boolean }): void {
  process.stdout.write(`${what} is revoked.\n`);
  if (!settled) process.stderr.write(notSettled);
}

const notSettled =
  "The gateways do not know of it yet; they will as soon as facts reach them (`tessera doctor` says what keeps them).\n";
