import type { ReadChangesResponse } from "@tessera/protos/gen/ticketing/checkin/v1/sync";

/** Reads the next part of the feed. */
export type ReadFeed = (after: string, waitMs: number) => Promise<ReadChangesResponse>;

/** When a body ends, at the latest: behind a part, whose cursor the client goes on from with a new request. */
export interface FeedEnd {
  /** An instant of the monotonic clock, in milliseconds. */
  readonly until: number;
  /** Aborts when this process stops. */
  readonly signal: AbortSignal;
}

function isOver({ until, signal }: FeedEnd): boolean {
  return performance.now() >= until || signal.aborted;
}

/** Writes parts of the feed as lines until there is no more; each part ends with a line that has its cursor. */
export async function* writeLines(first: ReadChangesResponse, read: ReadFeed, end: FeedEnd): AsyncGenerator<Buffer> {
  for (let part = first; ; part = await read(part.cursor, 0)) {
    // The client asks again with its last cursor, and is told then.
    if (part.isTooOld) return;
    yield Buffer.concat([part.lines, Buffer.from(`${JSON.stringify({ kind: "cursor", cursor: part.cursor })}\n`)]);
    if (part.isComplete || isOver(end)) return;
  }
}

/**
 * Writes parts of the feed as Server-Sent Events, as they come: the id of each is its cursor, its data are the lines. Where nothing
 * changes for `waitMs`, they show that the connection is alive.
 */
export async function* writeEvents(
  first: ReadChangesResponse,
  read: ReadFeed,
  { waitMs, ...end }: FeedEnd & { readonly waitMs: number },
): AsyncGenerator<string> {
  const nextWait = () => Math.max(0, Math.min(waitMs, Math.ceil(end.until - performance.now())));
  yield "retry: 1000\n\n";
  for (let part = first; ; part = await read(part.cursor, part.isComplete ? nextWait() : 0)) {
    // The client asks again with its last cursor, and is told then.
    if (part.isTooOld) return;
    // A line ends with a line feed alone: texts may have other separators.
    const data = Buffer.from(part.lines).toString().replace(/\n$/, "").replaceAll("\n", "\ndata: ");
    yield `${data === "" ? ": nothing new" : `id: ${part.cursor}\ndata: ${data}`}\n\n`;
    if (isOver(end)) return;
  }
}
