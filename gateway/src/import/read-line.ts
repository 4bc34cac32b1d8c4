import { programBeside, Thread, ThreadFailure } from "@tessera/kit/threads/thread";
import { fault } from "../faults.ts";
import type { LongLine } from "./parse-apart.ts";
import { type ParsedRecord, parseRecord, unreadable } from "./parse-record.ts";

/** Parsed at once in a few milliseconds, whatever it holds. */
const mostAtOnce = 128 * 1024;

/** The longest line of an ordinary order takes less than a second. */
const limits = { maxMs: 15_000, maxHeap: 512 };

const thread = new Thread<LongLine, ParsedRecord>({
  program: programBeside(import.meta.url, "parse-apart"),
  maxLoadMs: 20_000,
  idleMs: 30_000,
  maxHeap: limits.maxHeap,
});

/** Parses a line; a long one, such as an order of thousands of tickets, in a worker thread, to delay no scan. */
export async function readLine(number: number, bytes: Buffer): Promise<ParsedRecord> {
  if (bytes.length <= mostAtOnce) return parseRecord(number, bytes);
  try {
    return await thread.ask({ number, bytes }, limits);
  } catch (cause) {
    const trouble = cause instanceof ThreadFailure ? cause.trouble : undefined;
    if (trouble === "too slow" || trouble === "too much memory")
      return unreadable("The line is too complex to be read.");
    if (trouble !== "late") throw cause;
    throw fault("bodies_busy", "A long line could not be read in time. Send the records again.", {
      cause,
      retryAfterMs: 5000,
    });
  }
}
