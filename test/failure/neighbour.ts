import { fork } from "node:child_process";
import { once } from "node:events";
import { setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { eventPath } from "../e2e/sample-records.ts";
import { apiKey, type Festival, lists, toLines } from "./festival.ts";
import { sendScan } from "./gates.ts";
import { importOnce } from "./import-until-answered.ts";
import type { Noise, NoiseTarget } from "./make-noise.ts";

/** The time of each answer in milliseconds, and everything that was refused. */
export interface Seen {
  readonly scans: readonly number[];
  readonly searches: readonly number[];
  readonly imports: readonly number[];
  readonly refused: readonly string[];
}

/** A gate, a search and an import of one organizer, all the while. */
export async function visit({
  baseUrls,
  festival,
  ms,
}: {
  readonly baseUrls: readonly string[];
  readonly festival: Festival;
  readonly ms: number;
}): Promise<Seen> {
  const seen = { scans: [] as number[], searches: [] as number[], imports: [] as number[], refused: [] as string[] };
  const until = performance.now() + ms;
  let turns = 0;
  const next = () => {
    turns += 1;
    return { turn: turns, baseUrl: baseUrls[turns % baseUrls.length] ?? "" };
  };
  const repeat = async (times: number[], pauseMs: number, act: () => Promise<string | undefined>) => {
    while (performance.now() < until) {
      const started = performance.now();
      const refusal = await act();
      times.push(performance.now() - started);
      if (refusal !== undefined) seen.refused.push(refusal);
      await sleep(pauseMs);
    }
  };
  const scan = async () => {
    const { turn, baseUrl } = next();
    const ticket = festival.tickets[turn % festival.tickets.length] as Festival["tickets"][number];
    const nonce = `neighbour-${process.pid}-${performance.now()}-${turn}`;
    const { outcome, oddity } = await sendScan({
      baseUrl,
      scan: { list: lists.often.id, nonce, type: "entry" },
      ticket,
    });
    return outcome.kind === "admitted" ? undefined : `scan: ${oddity ?? JSON.stringify(outcome)}`;
  };
  const search = async () => {
    const path = `${eventPath}/checkinlists/${lists.once.id}/positions/?search=guest&ordering=-attendee_name`;
    const response = await fetch(`${next().baseUrl}${path}`, { headers: { authorization: `Token ${apiKey}` } });
    const text = await response.text();
    return response.status === 200 ? undefined : `search: ${response.status} ${text.slice(0, 200)}`;
  };
  const keep = async () => {
    const { turn, baseUrl } = next();
    const data = {
      token: `neighbour-key-${turn % 5}-${"k".repeat(40)}`,
      name: `Turn ${turn}`,
      permissions: ["*"],
      all_events: true,
    };
    const outcome = await importOnce({ baseUrl, body: toLines([{ kind: "api_key", organizer: "bigevents", data }]) });
    return "answer" in outcome && outcome.answer.settled ? undefined : `import: ${JSON.stringify(outcome)}`;
  };
  await Promise.all([
    ...[1, 2, 3, 4].map(() => repeat(seen.scans, 40, scan)),
    repeat(seen.searches, 100, search),
    repeat(seen.imports, 250, keep),
  ]);
  return seen;
}

/** Makes noise beside some work, in a process of its own. Returns what the work found, and the results of the noise. */
export async function beside<T>(
  { noise, target }: { noise: Noise; target: NoiseTarget },
  work: () => Promise<T>,
): Promise<{ found: T; results: Record<string, number> }> {
  const child = fork(new URL("./make-noise.ts", import.meta.url), [noise, JSON.stringify(target)], {
    execArgv: ["--conditions=source"],
  });
  try {
    // The noise comes from machines elsewhere: it takes no time of the processors from the platform.
    if (child.pid !== undefined) setPriority(child.pid, 19);
    await once(child, "message");
    const found = await work();
    const told = once(child, "message") as Promise<[Record<string, number>]>;
    child.send("end");
    const [results] = await told;
    return { found, results };
  } finally {
    child.kill("SIGKILL");
  }
}

/** The time within which a share of the answers came. */
export function percentile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.POSITIVE_INFINITY;
}

/** The measurements, for a report. */
export function summarize({ scans, searches, imports, refused }: Seen): Record<string, unknown> {
  const of = (times: readonly number[]) =>
    `${times.length}: p50 ${Math.round(percentile(times, 0.5))}, p95 ${Math.round(percentile(times, 0.95))}, p99 ${Math.round(percentile(times, 0.99))}, max ${Math.round(percentile(times, 1))} ms`;
  return { scans: of(scans), searches: of(searches), imports: of(imports), refused: refused.length };
}
