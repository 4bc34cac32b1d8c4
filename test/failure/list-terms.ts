import { setTimeout as sleep } from "node:timers/promises";
import type { Dice } from "@tessera/testkit/dice";
import { eventPath } from "../e2e/sample-records.ts";
import { apiKey, type Ticket } from "./festival.ts";
import { sendScan } from "./gates.ts";
import type { Attempt, Outcome } from "./scan-history.ts";

/** A client that lets a list admit a ticket once or often, in turns, and scans the ticket after each change. */
export interface ListTermsChanges {
  readonly attempts: readonly Attempt[];
  /** Scans that were not decided by the terms of their list. */
  readonly oddities: readonly string[];
  /** Scans of which it is certain by which terms they had to be decided. */
  readonly judged: { once: number; often: number };
  /** Makes no more changes; resolves when the last scan has a certain outcome, or has timed out. */
  close(): Promise<void>;
}

interface Options {
  readonly baseUrls: readonly [string, ...string[]];
  /** One that is always valid, and that no other client scans. */
  readonly ticket: Ticket;
  readonly dice: Dice;
}

/** After this time a request is repeated at the next process. */
const answerWithinMs = 5000;
/** After this time it is given up. */
const patienceMs = 300_000;
const pauseMs = 100;

/** Makes a list, and starts to change it at one process and to scan at the next. */
export async function openListTerms({ baseUrls, ticket, dice }: Options): Promise<ListTermsChanges> {
  const attempts: Attempt[] = [];
  const oddities: string[] = [];
  const judged = { once: 0, often: 0 };
  const run = dice.below(2 ** 31).toString(36);
  const addressOf = (turn: number) => baseUrls[turn % baseUrls.length] ?? baseUrls[0];
  let closing = false;

  /** Returns the list as it is answered; undefined: it is not known whether anything was done. */
  async function request(turn: number, method: string, path: string, body?: object): Promise<Answer | undefined> {
    try {
      const response = await fetch(`${addressOf(turn)}${eventPath}/checkinlists/${path}`, {
        method,
        headers: { authorization: `Token ${apiKey}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(answerWithinMs),
      });
      return response.ok ? ((await response.json()) as Answer) : undefined;
    } catch {
      return undefined;
    }
  }

  async function untilKnown<T>(turn: number, ask: (turn: number) => Promise<T | undefined>): Promise<T | undefined> {
    const until = performance.now() + patienceMs;
    for (let tried = turn; performance.now() < until; tried += 1) {
      const known = await ask(tried);
      if (known !== undefined) return known;
      await sleep(pauseMs);
    }
    return undefined;
  }

  function enter(list: number, turn: number): Promise<Outcome | undefined> {
    const scan = { gate: 0, nonce: `${run}-terms-${turn}`, list, position: ticket.position, type: "entry" } as const;
    return untilKnown(turn, async (tried) => {
      const baseUrl = addressOf(tried);
      const invokedAt = performance.now();
      const { outcome, oddity } = await sendScan({ baseUrl, scan, ticket, withinMs: answerWithinMs });
      attempts.push({ scan, baseUrl, invokedAt, endedAt: performance.now(), outcome });
      if (oddity !== undefined) oddities.push(oddity);
      return outcome.kind === "admitted" || outcome.kind === "refused" ? outcome : undefined;
    });
  }

  async function change({ id }: Answer, round: number): Promise<void> {
    const isOften = round % 2 === 0;
    const name = `Terms ${round}`;
    const changed = await request(round, "PATCH", `${id}/`, { name, allow_multiple_entries: isOften });
    if (changed === undefined) return;
    const outcome = await enter(id, round + 1);
    // An earlier change without an answer may have come meanwhile; then the list has its name.
    const shown = await untilKnown(round, (turn) => request(turn, "GET", `${id}/`));
    if (outcome === undefined || shown?.name !== name) return;
    judged[isOften ? "often" : "once"] += 1;
    const decided = "reason" in outcome ? outcome.reason : outcome.kind;
    if (decided !== (isOften ? "admitted" : "already_redeemed"))
      oddities.push(`a ticket that may enter ${isOften ? "often" : "once"} is ${decided} after change ${round}`);
  }

  const list = await request(0, "POST", "", { name: "Terms", all_products: true, limit_products: [] });
  if (list === undefined) throw new Error("the list of changing terms could not be made");
  await enter(list.id, 0);

  async function work(made: Answer): Promise<void> {
    for (let round = 1; !closing; round += 1) {
      await change(made, round);
      await sleep(pauseMs);
    }
  }

  const working = work(list);
  return {
    attempts,
    oddities,
    judged,
    async close() {
      closing = true;
      await working;
    },
  };
}

interface Answer {
  readonly id: number;
  readonly name: string;
}
