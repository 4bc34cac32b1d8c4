import type { Fault } from "@tessera/kit/fault";
import type { Files } from "@tessera/kit/files/files";
import { type Turn, Turns } from "@tessera/kit/waiting/turns";
import { fault } from "../faults.ts";
import { asAttachment, pdf, warned } from "./attachment.ts";
import type { Incoming, Reply } from "./route.ts";

/** Limits of concurrent downloads, and of their time. */
export interface DownloadLimits {
  readonly total: number;
  /** The limit of one organizer. */
  readonly each: number;
  readonly waitMs: number;
  /** Clients that have not read the whole answer by then are disconnected. */
  readonly longestMs: number;
}

export type TakeTurn = (request: Incoming, amount: number) => Promise<Turn>;

/** A semaphore for downloads: each holds its share until the answer was sent or the connection closed. */
export function downloadTurns({ longestMs, ...limits }: DownloadLimits, busy = tooManyDownloads): TakeTurn {
  const downloads = new Turns({ ...limits, busy });
  return async (request, amount) => {
    const { organizer: party, signal } = request;
    const turn = await downloads.take({ party, amount, signal });
    const timer = setTimeout(() => request.cutOff(), longestMs);
    const end = () => {
      clearTimeout(timer);
      turn.end();
    };
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
    return turn;
  };
}

function tooManyDownloads(): Fault {
  return fault("downloads_busy", "Too many files are being downloaded at once. Ask for this one again soon.", {
    retryAfterMs: 5000,
  });
}

/** A rendered file fits in one message. */
export const largestRendered = 15 * 1024 * 1024;

/** Rendered answers stay in memory until the client has read them. */
export const renderedLimits: DownloadLimits = {
  total: 16 * largestRendered,
  each: 8 * largestRendered,
  waitMs: 10_000,
  longestMs: 120_000,
};

/** Each holds a file open until its client has read it: a file of ten thousand tickets takes long on a slow line. */
const storedLimits: DownloadLimits = { total: 256, each: 64, waitMs: 10_000, longestMs: 3_600_000 };

interface StoredDownload {
  readonly key: string;
  readonly name: string;
  /** By default a PDF. */
  readonly type?: string;
  /** The number of things that could not be printed as the layout demands. */
  readonly warnings?: number;
  readonly leftOut?: readonly number[];
}

export type ReplyStored = (request: Incoming, file: StoredDownload) => Promise<Reply>;

/** Streams files of jobs from the file store, within limits for each organizer. */
export function storedDownloads(files: Pick<Files, "get">, limits = storedLimits): ReplyStored {
  const takeTurn = downloadTurns(limits);
  return async (request, { key, name, type = pdf, warnings, leftOut = [] }) => {
    const { signal } = request;
    await takeTurn(request, 1);
    const stored = await files.get(key);
    if (stored === undefined) throw fault("not_found", "There is no such file, or it has expired.");
    const close = () => stored.content.destroy();
    signal.addEventListener("abort", close, { once: true });
    // The client may have disconnected.
    if (signal.aborted) close();
    const headers = {
      ...asAttachment(name),
      ...(warnings === undefined ? {} : warned(warnings)),
      ...(leftOut.length === 0 ? {} : { "X-Tessera-Left-Out": inRanges(leftOut) }),
      "Content-Length": String(stored.size),
    };
    return { status: "ok", type, body: stored.content, headers };
  };
}

/** Writes ascending numbers as ranges, `3, 17-20`: proxies accept only a few kilobytes of headers. */
function inRanges(numbers: readonly number[]): string {
  const ranges: { readonly first: number; last: number }[] = [];
  for (const number of numbers) {
    const range = ranges.at(-1);
    if (range !== undefined && range.last + 1 === number) range.last = number;
    else ranges.push({ first: number, last: number });
  }
  return ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(", ");
}
