import { setTimeout as sleep } from "node:timers/promises";
import { parseBody } from "./parse-body.ts";
import { freeBytes } from "./read-body.ts";

/** A long pause helps no more: everything that waits has come by then. */
const longestPauseMs = 50;

/** Parses a body. Behind a large one comes a pause as long as that took: large bodies of one organizer take half of the time. */
export async function parsePausing(...[bytes, headers, body]: Parameters<typeof parseBody>): Promise<unknown> {
  if (bytes.length <= freeBytes) return parseBody(bytes, headers, body);
  const began = performance.now();
  try {
    return await parseBody(bytes, headers, body);
  } finally {
    await sleep(Math.min(performance.now() - began, longestPauseMs));
  }
}
