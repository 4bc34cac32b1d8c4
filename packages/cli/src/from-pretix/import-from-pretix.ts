import { resolve } from "node:path";
import { openExaminer } from "@tessera/sent-files/examine";
import { type Instant, isSlug, parseInstant } from "@tessera/values";
import { bar, type Progress } from "../command/progress.ts";
import { fault } from "../faults.ts";
import { askPretix, type Pace } from "./ask-pretix.ts";
import { permissions, reusableMedia } from "./event-lists.ts";
import { importEvent } from "./import-event.ts";
import { importList } from "./import-list.ts";
import { recordRejectedOrder } from "./import-orders.ts";
import { addRecord, addressIn, type ImportRun, type Scope } from "./import-run.ts";
import { openImportState } from "./import-state.ts";
import { readAnswer, unexpected } from "./read-answer.ts";
import { readList } from "./read-list.ts";
import { RecordFeed, type SendRecords } from "./record-feed.ts";
import { Tally } from "./tally.ts";

export interface PretixImport {
  readonly pretix: string;
  readonly token: string;
  readonly organizer: string;
  /** Empty: every event that the token can read. */
  readonly events: readonly string[];
  readonly since: string | undefined;
  readonly stateFile: string;
  /** Reads everything, whatever the state file holds. */
  readonly full: boolean;
  /** The receiving platform. The recorded progress belongs to this platform alone. */
  readonly platform: string;
  readonly send: SendRecords;
  readonly progress: Progress;
  readonly pace?: Partial<Pace>;
  /** How many records make an import, after which the progress is recorded. */
  readonly recordsAtOnce?: number;
}

export interface PretixImported {
  readonly rejected: number;
  readonly settled: boolean;
  /** Lines to print. */
  readonly summary: string;
}

/** Imports everything of an organizer from a running pretix, or the changes since the last run. */
export async function importFromPretix(options: PretixImport): Promise<PretixImported> {
  const { organizer, progress } = options;
  const since = readSince(options.since);
  checkSlugs([organizer, ...options.events]);
  const started = performance.now();
  let doing = "";
  const onWait = (text: string) => progress.update(`${doing}  ${text}`);
  const pretix = askPretix({
    url: options.pretix,
    token: options.token,
    onWait,
    pace: options.pace,
  });
  const state = await openImportState({
    path: resolve(options.stateFile),
    pretix: pretix.address("").href,
    platform: URL.parse(options.platform)?.href ?? options.platform,
    forget: options.full,
  });
  const tally = new Tally();
  const feed = new RecordFeed({
    send: options.send,
    onStored(records, answer) {
      for (const { kind, event, key } of tally.count(records, answer))
        if (kind === "order") recordRejectedOrder(state.of({ organizer, event }), key);
    },
    onMarked: () => state.save(),
    onWait,
    firstPauseMs: options.pace?.firstPauseMs,
    recordsAtOnce: options.recordsAtOnce,
  });
  const run: ImportRun = {
    pretix,
    organizer,
    feed,
    tally,
    examiner: openExaminer(),
    since,
    onProgress(what, part) {
      doing = part === undefined ? what : `${what}  ${bar(part.read, part.of)}  ${part.read} of ${part.of}`;
      progress.update(doing);
    },
  };

  try {
    const of = (event: string): Scope => ({ run, event, state: state.of({ organizer, event }) });
    const events = await importAll(of, options.events);
    await feed.finish();
    const seconds = (performance.now() - started) / 1000;
    return {
      rejected: tally.rejected,
      settled: tally.settled,
      summary: tally.describe({ events, seconds }),
    };
  } catch (error) {
    // Stores what was read, so that the next run need not read it again.
    await feed.finish().catch(() => {});
    throw error;
  } finally {
    await run.examiner.close();
    progress.done();
  }
}

async function importAll(of: (event: string) => Scope, named: readonly string[]): Promise<number> {
  const organizer = of("");
  const { body } = await readAnswer(organizer.run.pretix, addressIn(organizer, ""), {
    permission: permissions.organizer,
  });
  await addRecord(organizer, "organizer", body);
  // Reveals a wrong key or address of the platform before the shop is read for minutes.
  await organizer.run.feed.finish();
  await importList(organizer, {
    kind: "sales_channel",
    path: "saleschannels/",
    increments: "whole",
    // Older versions have no such list; their channels are fixed.
    mayBeMissing: true,
    permission: permissions.organizer,
  });
  const events = named.length > 0 ? [...new Set(named)] : await listEvents(organizer);
  for (const event of events) await importEvent(of(event));
  await importList(organizer, reusableMedia);
  return events.length;
}

async function listEvents(organizer: Scope): Promise<string[]> {
  const url = addressIn(organizer, "events/", { ordering: "slug" });
  const pages = await readList(organizer.run.pretix, url, { permission: permissions.organizer });
  const slugs = new Set<string>();
  if (typeof pages === "symbol") return [];
  for await (const { results } of pages) {
    for (const { slug } of results) {
      if (!isSlug(slug)) throw unexpected(url, "lists an event without a short name");
      slugs.add(slug);
    }
  }
  return [...slugs];
}

function readSince(text: string | undefined): Instant | undefined {
  if (text === undefined) return undefined;
  const instant = parseInstant(text);
  if (instant === undefined) throw fault("bad_since", "--since takes a date and time, as 2027-03-01T12:00:00Z");
  return instant;
}

/** They become part of URLs, and requests to these carry the token. */
function checkSlugs(slugs: readonly string[]): void {
  for (const slug of slugs) {
    if (!isSlug(slug)) throw fault("bad_slug", `${JSON.stringify(slug)} is no short name of an organizer or event`);
  }
}
