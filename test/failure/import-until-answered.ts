import { setTimeout as sleep } from "node:timers/promises";
import type { ImportAnswer } from "@tessera/cli/import/import-answer";
import { operatorKey } from "../e2e/sample-records.ts";

export interface ImportRun {
  readonly answer: ImportAnswer;
  readonly attempts: number;
  /** From the first attempt to the answer. */
  readonly ms: number;
}

const pauseMs = 150;

/** Everything is back by then, on the slowest machine. */
const withinMs = 500_000;

/** Sends records like a client that needs an answer: again from the start, until everything is stored and visible. */
export async function importUntilAnswered({
  baseUrl,
  body,
  oddities = [],
}: {
  readonly baseUrl: string;
  readonly body: string;
  /** Gets answers that no client may get, whatever dies. */
  readonly oddities?: string[];
}): Promise<ImportRun> {
  const started = performance.now();
  for (let attempts = 1; ; attempts += 1) {
    const outcome = await importOnce({ baseUrl, body });
    if ("answer" in outcome && outcome.answer.settled) {
      if (outcome.answer.rejected > 0) oddities.push(`an import rejects ${JSON.stringify(outcome.answer.errors[0])}`);
      return { answer: outcome.answer, attempts, ms: performance.now() - started };
    }
    if ("oddity" in outcome) oddities.push(outcome.oddity);
    if (performance.now() - started > withinMs)
      throw new Error(
        `an import got no answer within ${withinMs} ms; the last of ${attempts} attempts: ${JSON.stringify(outcome)}`,
      );
    await sleep(pauseMs);
  }
}

export type ImportOutcome =
  | { readonly answer: ImportAnswer }
  | { readonly unavailable: string }
  | { readonly broken: string }
  | { readonly oddity: string };

/** Sends records once. */
export async function importOnce({
  baseUrl,
  body,
  signal,
}: {
  baseUrl: string;
  body: string | ReadableStream<Uint8Array>;
  /** Breaks the connection. */
  signal?: AbortSignal;
}): Promise<ImportOutcome> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${baseUrl}/api/v1/import/`, {
      method: "POST",
      headers: { authorization: `Token ${operatorKey}`, "content-type": "application/x-ndjson" },
      body,
      ...(typeof body === "string" ? {} : { duplex: "half" }),
      signal: AbortSignal.any([AbortSignal.timeout(240_000), ...(signal === undefined ? [] : [signal])]),
    });
    text = await response.text();
  } catch (error) {
    return { broken: describeFailure(error) };
  }
  if (response.status === 200) return { answer: JSON.parse(text) as ImportAnswer };
  if (response.status === 503 && response.headers.has("retry-after")) return { unavailable: text };
  return { oddity: `an import is answered ${response.status} ${text.slice(0, 300)}` };
}

/** The messages of a failed fetch and its causes. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error && typeof error.code === "string" ? `${error.code} ` : "";
  return error.cause === undefined ? `${code}${error.message}` : describeFailure(error.cause);
}
