import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isObject } from "@tessera/values";
import { parseJson } from "../command/parse-json.ts";
import { type Arrival, drawArrivals, listPath, outageOf, type Plan, secretOf, ticketsOf } from "./plan.ts";

/** The measurements of gates, in milliseconds. */
export interface Seen {
  /** From the visitor's arrival to the answer, for each answered scan. */
  readonly waits: readonly number[];
  readonly admitted: number;
  readonly refused: number;
  /** Retried scans, by the answer. */
  readonly triedAgain: Readonly<Record<string, number>>;
  /** Wrong answers, with counts. */
  readonly wrong: Readonly<Record<string, number>>;
  /** Visitors without an answer. */
  readonly lost: number;
  /** Offline scans that were stored afterwards. */
  readonly uploaded: number;
  /** From the end of the outage until the last of them was stored. */
  readonly uploadMs: number;
}

export interface GatesOptions {
  readonly plan: Plan;
  readonly url: string;
  /** The device tokens of the gates. */
  readonly tokens: readonly string[];
  /** Aborts when no more visitors come. */
  readonly signal: AbortSignal;
  onScan(scans: number): void;
}

/** The timeout of a gate, as of scanners. */
const patienceMs = 10_000;
const mostTries = 5;

/** The pause before a retry without Retry-After. */
const usualPauseMs = 1000;

interface Scan {
  readonly ticket: number;
  readonly nonce: string;
  /** When the scan was decided offline. */
  readonly decidedAt?: Date;
}

type Expected = "admitted" | "already_redeemed" | "unknown";

/** Simulates visitors, and returns when all were answered and everything is stored. */
export async function runGates({ plan, url, tokens, signal, onScan }: GatesOptions): Promise<Seen> {
  const waits: number[] = [];
  const triedAgain: Record<string, number> = {};
  const wrong: Record<string, number> = {};
  let [admitted, refused, lost, uploaded, uploadMs, scans, next] = [0, 0, 0, 0, 0, 0, 1];
  const began = performance.now();
  const outage = outageOf(plan);
  const base = new URL(`${listPath(plan)}positions/`, url);

  const now = () => performance.now() - began;
  const isOffline = (at: number) => outage !== undefined && at >= outage.from && at < outage.to;
  const count = (of: Record<string, number>, what: string) => {
    of[what] = (of[what] ?? 0) + 1;
  };

  /** Sends a scan until it is answered. Its nonce makes it one scan, however often it is sent. */
  async function send(code: string, scan: Scan, token: string): Promise<Expected | undefined> {
    for (let tries = 1; tries <= mostTries; tries += 1) {
      const answer = await post(new URL(`${encodeURIComponent(code)}/redeem/`, base), token, scan);
      if (answer.outcome !== undefined) return answer.outcome;
      count(answer.isWrong ? wrong : triedAgain, answer.said);
      if (answer.isWrong) return undefined;
      await sleep(answer.pauseMs);
    }
    return undefined;
  }

  /** Waits for a time of the simulation; false: no more visitors come. */
  const reach = (at: number) => sleep(Math.max(0, at - now()), true, { signal }).catch(() => false);

  async function store(scan: Scan, token: string): Promise<void> {
    const outcome = await send(secretOf(plan, scan.ticket), scan, token);
    if (outcome === "admitted") {
      uploaded += 1;
      uploadMs = Math.max(uploadMs, now() - (outage?.to ?? 0));
    } else if (outcome === undefined) lost += 1;
    else count(wrong, `an upload is ${outcome}`);
  }

  /** Offline scans are uploaded beside new scans as soon as the network is back. */
  async function upload(waiting: readonly Scan[], token: string): Promise<void> {
    if (outage === undefined) return;
    await reach(outage.to);
    for (const scan of waiting) await store(scan, token);
  }

  async function work(token: string, arrivals: readonly Arrival[]): Promise<void> {
    const own: number[] = [];
    const waiting: Scan[] = [];
    const uploading = upload(waiting, token);
    for (const { at, kind } of arrivals) {
      if (!(await reach(at))) break;
      const again = kind === "again" ? own.at(-1) : undefined;
      const ticket = again ?? (kind === "unknown" ? 0 : next++);
      if (ticket > ticketsOf(plan)) break;
      scans += 1;
      onScan(scans);
      if (isOffline(now())) {
        if (ticket !== 0 && again === undefined) waiting.push({ ticket, nonce: randomUUID(), decidedAt: new Date() });
        continue;
      }
      const expected: Expected = ticket === 0 ? "unknown" : again === undefined ? "admitted" : "already_redeemed";
      const code = ticket === 0 ? `${plan.organizer}-other-${randomUUID()}` : secretOf(plan, ticket);
      const outcome = await send(code, { ticket, nonce: randomUUID() }, token);
      if (outcome === undefined) {
        lost += 1;
        continue;
      }
      waits.push(now() - at);
      if (outcome !== expected) count(wrong, `${outcome} instead of ${expected}`);
      else if (outcome === "admitted") admitted += 1;
      else refused += 1;
      if (outcome === "admitted") own.push(ticket);
    }
    await uploading;
  }

  await Promise.all(tokens.map((token) => work(token, drawArrivals(plan))));
  return { waits, admitted, refused, triedAgain, wrong, lost, uploaded, uploadMs };
}

type Answer =
  | { readonly outcome: Expected }
  | { readonly outcome?: never; readonly said: string; readonly isWrong: boolean; readonly pauseMs: number };

async function post(address: URL, token: string, { nonce, decidedAt }: Scan): Promise<Answer> {
  const offline =
    decidedAt === undefined
      ? { force: false, questions_supported: true }
      : { force: true, questions_supported: false, datetime: decidedAt.toISOString() };
  let response: Response;
  let text: string;
  try {
    response = await fetch(address, {
      method: "POST",
      headers: { authorization: `Device ${token}`, "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ nonce, type: "entry", canceled_supported: true, ignore_unpaid: false, ...offline }),
      redirect: "error",
      signal: AbortSignal.timeout(patienceMs),
    });
    text = await response.text();
  } catch (error) {
    return { said: describe(error), isWrong: false, pauseMs: usualPauseMs };
  }
  const { status } = response;
  // A proxy before the platform may answer with a page.
  const parsed = parseJson(text);
  const body = isObject(parsed) ? parsed : undefined;
  if (status === 201 && body?.["status"] === "ok") return { outcome: "admitted" };
  if (body?.["status"] === "error" && body["reason"] === "already_redeemed") return { outcome: "already_redeemed" };
  if (status === 404 && body?.["status"] === "error") return { outcome: "unknown" };
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return {
    said: `status ${status}${body === undefined ? " without JSON" : ""}`,
    isWrong: status < 500 && status !== 429,
    pauseMs: Number.isFinite(seconds) ? seconds * 1000 : usualPauseMs,
  };
}

function describe(error: unknown): string {
  const { name, cause } = error as { name?: string; cause?: { code?: string } };
  // Client errors mean the same, in other words.
  return cause?.code?.match(/^E[A-Z]+$/)?.[0] ?? (name === "TimeoutError" ? "no answer" : "a broken connection");
}
