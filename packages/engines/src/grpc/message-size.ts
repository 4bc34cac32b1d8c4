import { setImmediate as turnOfLoop } from "node:timers/promises";
import { fault } from "@tessera/kit/faults";

/** Room for the largest upload (10 MiB) and its metadata. Both ends must agree: change it for all services at once. */
export const mostMessageBytes = 16 * 1024 * 1024;

/** Encoding or decoding more takes milliseconds. */
const longMessage = 256 * 1024;

/** Yields to the event loop around the encoding or decoding of a long message. */
export async function pauseIfLong(message: Buffer): Promise<void> {
  if (message.length > longMessage) await turnOfLoop();
}

/** Throws for a message that the other side would refuse. This side can name both sizes; the other side could not. */
export function requireSize(message: Buffer, { what, path }: { what: "request" | "response"; path: string }): void {
  if (message.length <= mostMessageBytes) return;
  throw fault(
    "message_too_large",
    `the ${what} has ${message.length} bytes, more than the ${mostMessageBytes} allowed; use smaller parts`,
    { cause: new Error(path) },
  );
}
