import { setTimeout as sleep } from "node:timers/promises";
import { Turns } from "@tessera/kit/waiting/turns";
import { parseBody } from "./parse-body.ts";
import { busy, freeBytes, usualWaitMs } from "./read-body.ts";

/** A long pause helps no more: everything that waits has come by then. */
const longestPauseMs = 50;

type Parse = (party: string, ...sent: Parameters<typeof parseBody>) => Promise<unknown>;

/**
 * Makes what parses bodies: large ones one at a time, in turns of the organizers. Behind each comes a pause as long as its parsing
 * took. So large bodies take half of the time of the process, however many organizers send them.
 */
export function pausingParser(): Parse {
  const turns = new Turns({ total: 1, each: 1, waitMs: usualWaitMs, busy });
  return async (party, bytes, headers, body) => {
    if (bytes.length <= freeBytes) return parseBody(bytes, headers, body);
    return turns.run({ party, amount: 1 }, async () => {
      const began = performance.now();
      try {
        return await parseBody(bytes, headers, body);
      } finally {
        await sleep(Math.min(performance.now() - began, longestPauseMs));
      }
    });
  };
}
