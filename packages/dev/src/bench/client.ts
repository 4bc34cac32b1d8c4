import { setTimeout as sleep } from "node:timers/promises";
import type { ImportAnswer } from "@tessera/cli/import/import-answer";
import { quantile } from "@tessera/cli/simulate/quantile";
import { apiKey, operatorKey } from "./records.ts";

/** The path of the event of most benchmarks. */
export const eventPath = "/api/v1/organizers/bench/events/festival";

export const organizerPath = "/api/v1/organizers/bench";

const headers = { authorization: `Token ${apiKey}`, "content-type": "application/json" };

/** Reads a path, or posts a body to it; throws for an answer without success. */
export async function ask<T>(url: string, body?: object): Promise<T> {
  const post = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const answer = await fetch(url, { headers, ...post });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status} ${text.slice(0, 500)}`);
  return JSON.parse(text) as T;
}

/** More often than clients ask, so that the wait between two questions is not measured. */
const askAgainMs = 20;

/** Asks for what a job makes until it is there. */
export async function untilDone(url: string): Promise<Buffer> {
  for (; ; await sleep(askAgainMs)) {
    const answer = await fetch(url, { headers });
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (answer.status === 200) return bytes;
    if (answer.status !== 409) throw new Error(`${url} answered ${answer.status} ${bytes.toString().slice(0, 500)}`);
  }
}

/** Imports records in lines, and waits until they have arrived everywhere. */
export async function sendRecords(baseUrl: string, lines: Iterable<string>): Promise<ImportAnswer> {
  const encoder = new TextEncoder();
  const chunks = function* () {
    const chunk: string[] = [];
    for (const line of lines) {
      chunk.push(`${line}\n`);
      if (chunk.length === linesTogether) yield encoder.encode(chunk.splice(0).join(""));
    }
    yield encoder.encode(chunk.join(""));
  };
  const response = await fetch(`${baseUrl}/api/v1/import/`, {
    method: "POST",
    headers: { authorization: `Token ${operatorKey}`, "content-type": "application/x-ndjson" },
    body: ReadableStream.from(chunks()),
    duplex: "half",
  });
  const answer = (await response.json()) as ImportAnswer;
  if (response.status !== 200 || answer.rejected !== 0 || !answer.settled)
    throw new Error(`the import answered ${response.status}: ${JSON.stringify(answer)}`);
  return answer;
}

const linesTogether = 200;

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** The median of some runs, in milliseconds, and the slowest of a hundred. */
export interface Sampled {
  readonly p50: number;
  readonly p99: number;
}

/** Does work as often as asked, by so many callers at a time, after a few runs that compile code and fill caches. */
export async function sample(
  work: () => Promise<unknown>,
  { times, atOnce = 1 }: { readonly times: number; readonly atOnce?: number },
): Promise<Sampled> {
  for (let run = 0; run < times / 20; run += 1) await work();
  const took: number[] = [];
  let begun = 0;
  const call = async () => {
    while (begun < times) {
      begun += 1;
      took.push(await timed(work));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, call));
  return { p50: quantile(took, 0.5), p99: quantile(took, 0.99) };
}
