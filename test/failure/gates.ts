import { setTimeout as sleep } from "node:timers/promises";
import type { Dice } from "@tessera/testkit/dice";
import { eventPath } from "../e2e/sample-records.ts";
import { deviceKey, type Festival, lists, type Ticket } from "./festival.ts";
import { describeFailure } from "./import-until-answered.ts";
import type { Attempt, Outcome, Scan } from "./scan-history.ts";

export interface Gates {
  /** Everything sent so far, in the order of the answers. */
  readonly attempts: readonly Attempt[];
  /** Answers that no gate may get, whatever dies. */
  readonly oddities: readonly string[];
  /** Begins no more scans; resolves when every scan has a certain outcome, or has timed out. */
  close(): Promise<void>;
}

export interface GatesOptions {
  /** One per process; the gates take turns. */
  readonly baseUrls: readonly string[];
  readonly festival: Festival;
  readonly dice: Dice;
  readonly count?: number;
  /** Between two scans of a gate; a function may change it at any time. */
  readonly longestPauseMs?: number | (() => number);
  /** After this time a gate repeats its scan at the next process. */
  readonly answerWithinMs?: number;
  /** How many admitted scans are sent again later: they are admitted again. */
  readonly replayedPercent?: number;
  /** Whether a connection may break or be refused, because the platform itself is killed. */
  readonly connectionsMayBreak: boolean;
}

/** After this time a scan is given up. */
const patienceMs = 300_000;

/** After this time a scan hangs. */
const longestAnswerMs = 60_000;

const retryPauseMs = 100;

/**
 * Opens gates that scan tickets until they are closed. A scan with an unknown outcome is sent again with its nonce, to
 * the next process, as behind a balancer.
 */
export function openGates(options: GatesOptions): Gates {
  const { baseUrls, festival, dice, count = 8, longestPauseMs = 250, connectionsMayBreak } = options;
  const { answerWithinMs = longestAnswerMs, replayedPercent = 0 } = options;
  const drawPause = (own: Dice) => own.below(typeof longestPauseMs === "function" ? longestPauseMs() : longestPauseMs);
  const fleeting = new Set(festival.fleeting);
  const attempts: Attempt[] = [];
  const oddities: string[] = [];
  const run = dice.below(2 ** 31).toString(36);
  let closing = false;
  let drawn = 0;

  /** Gates that scan at the same time scan the same few tickets. */
  function drawScan(gate: number, own: Dice, number: number): { scan: Scan; ticket: Ticket } {
    const kind = own.below(10);
    const list = kind < 6 ? lists.once : kind < 9 ? lists.again : lists.often;
    const ticket =
      list !== lists.once
        ? (festival.tickets.at(-1 - own.below(30)) as Ticket)
        : own.chance(8)
          ? own.pick(festival.fleeting)
          : (festival.tickets[(Math.floor(drawn / 4) + own.below(6)) % festival.tickets.length] as Ticket);
    if (list === lists.once) drawn += 1;
    const type = own.chance(list === lists.once ? 90 : 50) ? "entry" : "exit";
    return {
      scan: { gate, nonce: `${run}-${gate}-${number}`, list: list.id, position: ticket.position, type },
      ticket,
    };
  }

  /** Sends a scan until its outcome is certain, or its time is up. */
  async function send({ scan, ticket }: { scan: Scan; ticket: Ticket }): Promise<Outcome> {
    const until = performance.now() + patienceMs;
    for (let sent = 0; ; sent += 1) {
      const baseUrl = baseUrls[(scan.gate + sent) % baseUrls.length] ?? "";
      const invokedAt = performance.now();
      const { outcome, oddity } = await sendScan({ baseUrl, scan, ticket, withinMs: answerWithinMs });
      const endedAt = performance.now();
      attempts.push({ scan, baseUrl, invokedAt, endedAt, outcome });
      if (oddity !== undefined) oddities.push(oddity);
      if (!connectionsMayBreak && "why" in outcome && outcome.why !== unavailable)
        oddities.push(`the connection of scan ${scan.nonce} broke: ${outcome.why}`);
      if (outcome.kind === "admitted" || outcome.kind === "refused") return outcome;
      if (endedAt > until) {
        oddities.push(`scan ${scan.nonce} never found out what became of it`);
        return outcome;
      }
      await sleep(retryPauseMs);
    }
  }

  async function work(gate: number, own: Dice): Promise<void> {
    for (let number = 0; !closing; number += 1) {
      const drawnScan = drawScan(gate, own, number);
      const { kind } = await send(drawnScan);
      await sleep(drawPause(own));
      if (kind !== "admitted" || fleeting.has(drawnScan.ticket) || !own.chance(replayedPercent)) continue;
      const again = await send(drawnScan);
      if (again.kind === "refused") oddities.push(`scan ${drawnScan.scan.nonce} was admitted, and then refused`);
    }
  }

  const working = Array.from({ length: count }, (_, gate) => work(gate, dice.fork()));
  return {
    attempts,
    oddities,
    async close() {
      closing = true;
      await Promise.all(working);
    },
  };
}

const unavailable = "unavailable";

/** Sends one scan, once. */
export async function sendScan({
  baseUrl,
  scan,
  ticket,
  withinMs = longestAnswerMs,
}: {
  readonly baseUrl: string;
  readonly scan: Pick<Scan, "list" | "nonce" | "type">;
  readonly ticket: Ticket;
  readonly withinMs?: number;
}): Promise<{ readonly outcome: Outcome; readonly oddity?: string }> {
  const path = `${eventPath}/checkinlists/${scan.list}/positions/${encodeURIComponent(ticket.secret)}/redeem/`;
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${baseUrl}${path}`, {
      method: "POST",
      headers: { authorization: `Device ${deviceKey}`, "content-type": "application/json" },
      body: JSON.stringify({ nonce: scan.nonce, type: scan.type }),
      signal: AbortSignal.timeout(withinMs),
    });
    text = await response.text();
  } catch (error) {
    const why = describeFailure(error);
    return { outcome: { kind: why.startsWith("ECONNREFUSED") ? "not_done" : "unknown", why } };
  }
  return readAnswer({ status: response.status, hasRetryAfter: response.headers.has("retry-after"), text }, ticket);
}

function readAnswer(
  { status, hasRetryAfter, text }: { status: number; hasRetryAfter: boolean; text: string },
  ticket: Ticket,
): { readonly outcome: Outcome; readonly oddity?: string } {
  const odd = {
    outcome: { kind: "unknown", why: `status ${status}` },
    oddity: `a scan is answered ${status} ${text.slice(0, 300)}`,
  } as const;
  // A scan that is turned away was not looked at.
  if (status === 503 || status === 429)
    return hasRetryAfter ? { outcome: { kind: status === 429 ? "not_done" : "unknown", why: unavailable } } : odd;
  const body = parse(text);
  if (status === 201 && body.status === "ok" && body.position?.id === ticket.position)
    return { outcome: { kind: "admitted" } };
  if ((status === 200 || status === 404) && body.status === "error" && body.reason !== undefined)
    return { outcome: { kind: "refused", reason: body.reason } };
  return odd;
}

function parse(text: string): { status?: string; reason?: string; position?: { id?: number } } {
  try {
    return JSON.parse(text) as ReturnType<typeof parse>;
  } catch {
    return {};
  }
}
