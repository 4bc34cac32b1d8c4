import { setTimeout as sleep } from "node:timers/promises";
import { eventPath } from "../e2e/sample-records.ts";
import { apiKey, lists } from "./festival.ts";

/** A client that renames lists while gates scan on them. */
export interface ListChanges {
  readonly oddities: readonly string[];
  readonly counts: { answered: number; unknown: number };
  /** Ends, and returns the lists that have lost an answered change. */
  close(): Promise<string[]>;
}

const longestAnswerMs = 5000;
const pauseMs = 100;

/** Starts to rename each list again and again, at one process after the other. */
export function openListChanges(baseUrls: readonly [string, ...string[]]): ListChanges {
  const oddities: string[] = [];
  const counts = { answered: 0, unknown: 0 };
  let closing = false;

  async function send(list: number, round: number, name?: string): Promise<{ status: number; name?: string }> {
    const baseUrl = baseUrls[round % baseUrls.length] ?? baseUrls[0];
    try {
      const response = await fetch(`${baseUrl}${eventPath}/checkinlists/${list}/`, {
        method: name === undefined ? "GET" : "PATCH",
        headers: { authorization: `Token ${apiKey}`, "content-type": "application/json" },
        ...(name === undefined ? {} : { body: JSON.stringify({ name }) }),
        signal: AbortSignal.timeout(longestAnswerMs),
      });
      const text = await response.text();
      if (response.status === 200) return { status: 200, name: (JSON.parse(text) as { name: string }).name };
      // 409: a frozen process, or a connection that is lost on one side, holds the list.
      if ([409, 429, 503].includes(response.status)) return { status: response.status };
      oddities.push(`list ${list} is answered ${response.status} ${text.slice(0, 200)}`);
      return { status: response.status };
    } catch {
      return { status: 0 };
    }
  }

  async function rename(list: number): Promise<string[]> {
    // A change without an answer may have any effect, even after later ones.
    const possible = new Set<string>();
    let last: string | undefined;
    let round = list;
    for (; !closing; round += 1) {
      const name = `List ${list}, change ${round}`;
      const { status, name: shown } = await send(list, round, name);
      if (status === 200) {
        counts.answered += 1;
        last = name;
        if (shown !== name && !possible.has(shown ?? "")) oddities.push(`${name} is answered as ${shown}`);
      } else {
        counts.unknown += 1;
        possible.add(name);
      }
      await sleep(pauseMs);
    }
    for (let tried = 0; tried < 50; tried += 1) {
      const { status, name = "" } = await send(list, round + tried);
      if (status === 200)
        return name === last || possible.has(name) ? [] : [`list ${list} is ${name}, and not ${last}`];
      await sleep(200);
    }
    return [`list ${list} cannot be read`];
  }

  const working = Object.values(lists).map(({ id }) => rename(id));
  return {
    oddities,
    counts,
    async close() {
      closing = true;
      return (await Promise.all(working)).flat();
    },
  };
}
