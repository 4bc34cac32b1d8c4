import { setTimeout as sleep } from "node:timers/promises";
import type { Dice } from "@tessera/testkit/dice";
import { expect } from "vitest";
import { eventPath } from "../e2e/sample-records.ts";
import { type FeedReaders, openFeedReaders } from "./feed-readers.ts";
import { apiKey, type Edition, type Festival } from "./festival.ts";
import { type Gates, type GatesOptions, openGates } from "./gates.ts";
import { type ImportRun, importUntilAnswered } from "./import-until-answered.ts";
import type { Attempt } from "./scan-history.ts";

/** The load on a platform while processes die: gates that scan, gates that follow the feed, and one import after the other. */
export interface Load {
  readonly gates: Gates;
  readonly feed: FeedReaders;
  /** Imports that were answered. */
  readonly imports: readonly ImportRun[];
  /** Begins nothing more, and waits for everything begun. */
  finish(): Promise<FinishedLoad>;
}

export interface FinishedLoad {
  readonly attempts: readonly Attempt[];
  readonly imports: readonly ImportRun[];
  readonly edition: Edition;
  /** Answers that no client may get, whatever dies. */
  readonly oddities: readonly string[];
}

export interface LoadOptions extends GatesOptions {
  readonly baseUrls: readonly [string, ...string[]];
  /** How many gates follow the sync feed all the while. */
  readonly feedReaders?: number;
}

/** Between two imports: without it they would leave no processor to what is killed and starts again. */
const betweenImportsMs = 1500;

/** Starts gates and an importer against one or several processes of a platform. */
export function startLoad(options: LoadOptions): Load {
  const { baseUrls, festival, connectionsMayBreak, feedReaders = 0 } = options;
  const dice = options.dice.fork();
  const gates = openGates({ ...options, dice: options.dice.fork() });
  const feed = openFeedReaders({
    ...{ baseUrls, connectionsMayBreak, count: feedReaders, dice: options.dice.fork(), attempts: gates.attempts },
    lasting: new Set([...festival.tickets, ...festival.spare].map(({ position }) => position)),
  });
  const imports: ImportRun[] = [];
  const oddities: string[] = [];
  let finishing = false;

  async function importEditions(): Promise<Edition> {
    for (let round = 0; ; round += 1) {
      const edition = festival.edition(dice.fork());
      const baseUrl = baseUrls[round % baseUrls.length] ?? baseUrls[0];
      imports.push(await importUntilAnswered({ baseUrl, body: edition.body, oddities }));
      for (const each of baseUrls) oddities.push(...(await findUnseen({ baseUrl: each, festival, edition, dice })));
      if (feedReaders > 0) await feed.compare(edition);
      if (finishing) return edition;
      await sleep(betweenImportsMs);
    }
  }

  const importing = importEditions();
  // A failure is reported at the end.
  importing.catch(() => {});
  return {
    gates,
    feed,
    imports,
    async finish() {
      finishing = true;
      const [edition] = await Promise.all([importing, gates.close()]);
      if (feedReaders > 0) await feed.close();
      return {
        ...{ edition, imports, attempts: gates.attempts },
        oddities: [...gates.oddities, ...feed.oddities, ...oddities],
      };
    },
  };
}

/** An answered import is visible at once in every process that runs. */
async function findUnseen({
  baseUrl,
  festival,
  edition,
  dice,
}: {
  readonly baseUrl: string;
  readonly festival: Festival;
  readonly edition: Edition;
  readonly dice: Dice;
}): Promise<string[]> {
  const look = async (path: string, key: string) => {
    try {
      const response = await fetch(`${baseUrl}${eventPath}/checkinlists/1/${path}`, {
        headers: { authorization: `Token ${key}` },
        signal: AbortSignal.timeout(10_000),
      });
      return { status: response.status, body: (await response.json()) as { attendee_name?: string } };
    } catch {
      return { status: 503, body: {} };
    }
  };
  const found: string[] = [];
  for (const { position } of [
    ...Array.from({ length: 5 }, () => dice.pick(festival.tickets)),
    dice.pick(festival.fleeting),
  ]) {
    const { status, body } = await look(`positions/${position}/`, apiKey);
    const wanted = edition.positions.get(position);
    const isSeen =
      wanted === undefined ? status === 404 : status === 200 && body.attendee_name === wanted.attendee_name;
    if (!isSeen && status !== 503)
      found.push(`after its import, position ${position} is ${status} ${body.attendee_name}`);
  }
  for (const [key, active] of edition.keys) {
    const { status } = await look("", key);
    if (status !== (active ? 200 : 401) && status !== 503)
      found.push(`after its import, a key that is ${active ? "active" : "switched off"} is answered ${status}`);
  }
  return found;
}

/** The measurements of a load, for a report. */
export function measure({ attempts, imports }: Pick<FinishedLoad, "attempts" | "imports">): Record<string, unknown> {
  return {
    outcomes: countOutcomes(attempts),
    slowestScanMs: Math.round(Math.max(...attempts.map(({ invokedAt, endedAt }) => endedAt - invokedAt))),
    imports: imports.map((run) => `${Math.round(run.ms)} ms, ${run.attempts} attempts`),
  };
}

/** The time to the next certain answer of a gate, in milliseconds from an instant of `performance.now()`. */
export function recoveryMs(attempts: readonly Attempt[], from: number): number {
  const certain = attempts.filter(({ outcome }) => isCertain(outcome));
  const next = certain.filter(({ invokedAt }) => invokedAt >= from).map(({ endedAt }) => endedAt - from);
  return next.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...next);
}

/** Waits until gates have learned so many outcomes of scans that they have begun since an instant of `performance.now()`. */
export async function untilScanned(attempts: readonly Attempt[], since: number, count = 1): Promise<void> {
  const learned = () => attempts.filter(({ outcome, invokedAt }) => invokedAt >= since && isCertain(outcome)).length;
  const message = `${count} outcomes of scans since the fault`;
  await expect.poll(learned, { timeout: 300_000, interval: 20, message }).toBeGreaterThanOrEqual(count);
}

function isCertain({ kind }: Attempt["outcome"]): boolean {
  return kind === "admitted" || kind === "refused";
}

/** Counts outcomes of a kind, for a test that must not pass because nothing happened. */
export function countOutcomes(attempts: readonly Attempt[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of attempts) {
    const name = "reason" in outcome ? outcome.reason : outcome.kind;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
