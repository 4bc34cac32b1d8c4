import { setTimeout as sleep } from "node:timers/promises";
import type { Dice } from "@tessera/testkit/dice";
import { lists } from "../failure/festival.ts";
import type { FestivalCluster } from "../failure/festival-cluster.ts";
import { sendScan } from "../failure/gates.ts";
import type { Attempt, Scan } from "../failure/scan-history.ts";

/** From one moment of `performance.now()` to another. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Visitors who come at a steady pace, however long those before them wait; each is scanned once, at the gateways in turn. */
export class SteadyScans {
  readonly attempts: Attempt[] = [];
  /** Answers that no gate may get. */
  readonly oddities: string[] = [];
  /** The most scans that waited at the same time. */
  mostAtOnce = 0;
  readonly #cluster: Pick<FestivalCluster, "festival" | "baseUrls">;
  readonly #run: string;
  readonly #open = new Set<Promise<void>>();
  #number = 0;

  constructor(cluster: Pick<FestivalCluster, "festival" | "baseUrls">, dice: Dice) {
    this.#cluster = cluster;
    this.#run = dice.below(2 ** 31).toString(36);
  }

  /** Sends so many a second for a while, or as many as the machine can begin. Their answers may come later. */
  async sendFor(ms: number, perSecond: number): Promise<Span> {
    const from = performance.now();
    for (let sent = 0; performance.now() < from + ms; await sleep(1)) {
      const due = ((performance.now() - from) * perSecond) / 1000;
      // Late ones follow a few at a time: together they would leave no time for answers.
      for (const most = sent + perSecond / 100; sent < due && sent < most; sent += 1) this.#begin();
    }
    return { from, to: performance.now() };
  }

  /** Waits for all answers. */
  async drain(): Promise<void> {
    await Promise.all(this.#open);
  }

  /** What was sent in a span. */
  sentIn({ from, to }: Span): Attempt[] {
    return this.attempts.filter(({ invokedAt }) => invokedAt >= from && invokedAt < to);
  }

  #begin(): void {
    this.#number += 1;
    const scanning = this.#send(this.#number).finally(() => this.#open.delete(scanning));
    this.#open.add(scanning);
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#open.size);
  }

  async #send(number: number): Promise<void> {
    const { festival, baseUrls } = this.#cluster;
    const ticket = festival.tickets[number % festival.tickets.length];
    if (ticket === undefined) throw new Error("a festival has tickets");
    const scan: Scan = {
      ...{ gate: number, nonce: `${this.#run}-${number}` },
      ...{ list: lists.often.id, position: ticket.position, type: "entry" },
    };
    const baseUrl = baseUrls[number % baseUrls.length] ?? baseUrls[0];
    const invokedAt = performance.now();
    const { outcome, oddity } = await sendScan({ baseUrl, scan, ticket, withinMs: 30_000 });
    this.attempts.push({ scan, baseUrl, invokedAt, endedAt: performance.now(), outcome });
    if (oddity !== undefined) this.oddities.push(oddity);
  }
}

/** How long requests took, the fastest first. */
export function tookMs(attempts: readonly Attempt[]): number[] {
  return attempts.map(({ invokedAt, endedAt }) => endedAt - invokedAt).sort((a, b) => a - b);
}
