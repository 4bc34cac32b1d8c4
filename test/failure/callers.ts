import { setTimeout as sleep } from "node:timers/promises";
import type { Dice } from "@tessera/testkit/dice";
import { eventPath, listData } from "../e2e/sample-records.ts";
import { describeFailure } from "./import-until-answered.ts";

/** Clients that read, and write other things than scans. */
export interface Callers {
  /** The number of answers of each status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly oddities: readonly string[];
  readonly slowestMs: () => number;
  /** Lists whose creation was answered. */
  readonly created: readonly number[];
  close(): Promise<void>;
}

interface Call {
  readonly name: string;
  readonly method: "GET" | "POST" | "PATCH";
  readonly path: string;
  readonly key: string;
  readonly body?: unknown;
  readonly right: number;
}

/** After this time a call hangs. */
const longestAnswerMs = 60_000;

/**
 * Starts callers of all kinds of routes, with keys that were not used so far: a key that cannot be looked up must not be
 * refused. Each answer is the right one, or 503 or 429 with a time for the retry.
 */
export function openCallers({
  baseUrl,
  dice,
  apiKey,
  freshKeys,
}: {
  readonly baseUrl: string;
  readonly dice: Dice;
  readonly apiKey: string;
  /** Valid ones, each used once. */
  readonly freshKeys: readonly string[];
}): Callers {
  const statuses: Record<string, number> = {};
  const oddities: string[] = [];
  const created: number[] = [];
  const fresh = [...freshKeys];
  let slowestMs = 0;
  let closing = false;
  let drawn = 0;

  function drawCall(own: Dice): Call {
    const list = `${eventPath}/checkinlists/1/`;
    drawn += 1;
    return own.pick<() => Call>([
      () => ({ name: "status", method: "GET", path: `${list}status/`, key: apiKey, right: 200 }),
      () => ({ name: "search", method: "GET", path: `${list}positions/?search=Guest&page=2`, key: apiKey, right: 200 }),
      () => ({
        name: "no list",
        method: "GET",
        path: `${eventPath}/checkinlists/${2 ** 49}/`,
        key: apiKey,
        right: 404,
      }),
      () => ({ name: "no event", method: "GET", path: `${eventPath}${drawn}/checkinlists/`, key: apiKey, right: 403 }),
      () => ({ name: "no key", method: "GET", path: list, key: `nobody-${drawn}`, right: 401 }),
      () => ({ name: "a fresh key", method: "GET", path: list, key: fresh.pop() ?? apiKey, right: 200 }),
      () => ({
        name: "change",
        method: "PATCH",
        path: list,
        key: apiKey,
        body: { name: `List 1, change ${drawn}` },
        right: 200,
      }),
      () => ({
        name: "creation",
        method: "POST",
        path: `${eventPath}/checkinlists/`,
        key: apiKey,
        body: listData({ id: undefined, name: `Made ${drawn}` }),
        right: 201,
      }),
    ])();
  }

  async function place({ name, method, path, key, body, right }: Call): Promise<void> {
    const started = performance.now();
    const judged = await send({ url: `${baseUrl}${path}`, method, key, body });
    const ms = performance.now() - started;
    slowestMs = Math.max(slowestMs, ms);
    statuses[judged.status] = (statuses[judged.status] ?? 0) + 1;
    if (judged.status === "201") created.push((JSON.parse(judged.text) as { id: number }).id);
    // 429: an organizer whose reads hang has as many of them under way as it may have.
    const isLater = (judged.status === "503" || judged.status === "429") && judged.hasRetryAfter;
    const isRight = judged.status === String(right) || isLater;
    if (!isRight)
      oddities.push(`${name} is answered ${judged.status} instead of ${right}: ${judged.text.slice(0, 200)}`);
  }

  async function work(own: Dice): Promise<void> {
    for (; !closing; await sleep(own.below(30))) await place(drawCall(own));
  }

  const working = [dice.fork(), dice.fork(), dice.fork()].map(work);
  return {
    statuses,
    oddities,
    slowestMs: () => slowestMs,
    created,
    async close() {
      closing = true;
      await Promise.all(working);
    },
  };
}

async function send({
  url,
  method,
  key,
  body,
}: {
  url: string;
  method: string;
  key: string;
  body: unknown;
}): Promise<{ status: string; hasRetryAfter: boolean; text: string }> {
  try {
    const response = await fetch(url, {
      method,
      headers: { authorization: `Token ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(longestAnswerMs),
    });
    const hasRetryAfter = response.headers.has("retry-after");
    return { status: String(response.status), hasRetryAfter, text: await response.text() };
  } catch (error) {
    return { status: "nothing", hasRetryAfter: false, text: describeFailure(error) };
  }
}
