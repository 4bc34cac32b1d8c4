import type { Examiner } from "@tessera/sent-files/examine";
import { formatInstant, type Instant, parseInstant } from "@tessera/values";
import type { Pretix } from "./ask-pretix.ts";
import type { SourceState } from "./import-state.ts";
import type { Json } from "./read-answer.ts";
import type { RecordFeed } from "./record-feed.ts";
import type { Tally } from "./tally.ts";

/** Shared by all steps of an import. */
export interface ImportRun {
  readonly pretix: Pretix;
  readonly organizer: string;
  readonly feed: RecordFeed;
  readonly tally: Tally;
  readonly examiner: Examiner;
  /** Asks for changes since then, whatever the state file holds. */
  readonly since: Instant | undefined;
  readonly onProgress: (what: string, part: { readonly read: number; readonly of: number } | undefined) => void;
}

/** The event that a step of an import is about; empty: the organizer. */
export interface Scope {
  readonly run: ImportRun;
  readonly event: string;
  readonly state: SourceState;
}

/** A run asks for changes from this long before the mark: orders of slow transactions may have committed later. */
const overlapMicroseconds = 60_000_000;

/** The instant from which to ask for changes, without missing any. */
export function askedSince({ run }: Scope, mark: string | undefined): string | undefined {
  if (run.since !== undefined) return formatInstant(run.since);
  const instant = mark === undefined ? undefined : parseInstant(mark);
  return instant === undefined ? undefined : formatInstant(instant - overlapMicroseconds);
}

/** Whether a run may move a mark: not if it skips the time between the mark and its own beginning. */
export function mayMove({ run }: Scope, mark: string | undefined): boolean {
  if (run.since === undefined) return true;
  const instant = mark === undefined ? undefined : parseInstant(mark);
  return instant !== undefined && run.since <= instant;
}

/** Sends one object as a record. */
export function addRecord({ run, event }: Scope, kind: string, data: Json): Promise<void> {
  return run.feed.add({ kind, organizer: run.organizer, ...(event === "" ? {} : { event }), data });
}

/** The URL of a path below the event or organizer. */
export function addressIn(
  { run, event }: Scope,
  path: string,
  query: Readonly<Record<string, string | readonly string[] | undefined>> = {},
): URL {
  return run.pretix.address(
    event === "" ? `${run.organizer}/${path}` : `${run.organizer}/events/${event}/${path}`,
    query,
  );
}

export function describeScope({ run, event }: Scope): string {
  return event === "" ? run.organizer : event;
}
