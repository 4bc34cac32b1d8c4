import { formatInstant, type Instant, parseInstant } from "@tessera/values";
import type { Pretix } from "./ask-pretix.ts";
import type { SourceState } from "./import-state.ts";
import type { Json } from "./read-answer.ts";
import type { RecordFeed } from "./record-feed.ts";
import type { Tally } from "./tally.ts";

/** What every step of an import works with. */
export interface ImportRun {
  readonly pretix: Pretix;
  readonly organizer: string;
  readonly feed: RecordFeed;
  readonly tally: Tally;
  /** Asks for what changed since then, whatever is remembered. */
  readonly since: Instant | undefined;
  /** How many records of a kind of an event were rejected so far. */
  rejectedOf(event: string, kind: string): number;
  readonly onProgress: (what: string, part: { readonly read: number; readonly of: number } | undefined) => void;
}

/** A step of an import that is about one event, or about the organizer where the event is empty. */
export interface Place {
  readonly run: ImportRun;
  readonly event: string;
  readonly state: SourceState;
}

/**
 * So far before its mark a list is asked for changes again: an order may be saved by a transaction that ends only after
 * the list was made, and would be seen by nobody.
 */
const overlapMicroseconds = 60_000_000;

/** From when on to ask for changes, so that none can have been missed. */
export function askedSince({ run }: Place, mark: string | undefined): string | undefined {
  if (run.since !== undefined) return formatInstant(run.since);
  const instant = mark === undefined ? undefined : parseInstant(mark);
  return instant === undefined ? undefined : formatInstant(instant - overlapMicroseconds);
}

/** Whether a run may move a mark: not where it leaves out what lies between the mark and its own beginning. */
export function mayMove({ run }: Place, mark: string | undefined): boolean {
  if (run.since === undefined) return true;
  const instant = mark === undefined ? undefined : parseInstant(mark);
  return instant !== undefined && run.since <= instant;
}

/** Sends one object as a record of the place. */
export function addRecord({ run, event }: Place, kind: string, data: Json): Promise<void> {
  return run.feed.add({ kind, organizer: run.organizer, ...(event === "" ? {} : { event }), data });
}

/** The address of something below the place. */
export function addressIn(
  { run, event }: Place,
  path: string,
  query: Readonly<Record<string, string | readonly string[] | undefined>> = {},
): URL {
  return run.pretix.address(
    event === "" ? `${run.organizer}/${path}` : `${run.organizer}/events/${event}/${path}`,
    query,
  );
}

export function describePlace({ run, event }: Place): string {
  return event === "" ? run.organizer : event;
}
