import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { samplesOf } from "../e2e/sample-records.ts";

const { deviceKey, eventPath } = samplesOf("doors");

/** Visitors with a ticket each, who come to gates one after the other. */
export interface Visitors {
  /** Ends when every visitor at a gate has an answer. */
  finish(): Promise<Visit>;
}

export interface Visit {
  readonly admitted: readonly number[];
  /** Everything but an admission: other answers, and connections that broke. */
  readonly failures: readonly string[];
  /** Visitors who were not admitted in the end. */
  readonly lost: readonly number[];
  readonly slowestMs: number;
}

export interface VisitOptions {
  /** Where the Service of the gateways is. */
  readonly baseUrl: string;
  /** How many there are; each is scanned once. */
  readonly tickets: number;
  readonly gates: number;
  readonly pauseMs: number;
  /** A scan without an answer is repeated until this time has passed. 0: never. */
  readonly repeatForMs: number;
}

let nextTicket = 1;

export const secretOf = (ticket: number) => `ticket-${ticket}-of-the-cluster`;

/** Opens gates. Most keep their connection, as scanners do; each tenth scan has one of its own. */
export function openGates({ baseUrl, tickets, gates, pauseMs, repeatForMs }: VisitOptions): Visitors {
  const admitted: number[] = [];
  const failures: string[] = [];
  const lost: number[] = [];
  const started = Date.now();
  let slowestMs = 0;
  let closing = false;

  async function visit(ticket: number, agent: Agent | false): Promise<void> {
    const begun = performance.now();
    for (const until = Date.now() + repeatForMs; ; await sleep(200)) {
      const problem = await scan(`${baseUrl}${eventPath}/checkinlists/1/positions/${secretOf(ticket)}/redeem/`, {
        nonce: `nonce-${ticket}`,
        agent,
      });
      slowestMs = Math.max(slowestMs, performance.now() - begun);
      if (problem === undefined) return void admitted.push(ticket);
      failures.push(`after ${((Date.now() - started) / 1000).toFixed(1)} s: ${problem}`);
      if (Date.now() > until) return void lost.push(ticket);
    }
  }

  async function work(): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let number = 0; !closing; number += 1) {
      if (nextTicket > tickets) return void failures.push("no ticket is left: import more of them");
      await visit(nextTicket++, number % 10 === 9 ? false : agent);
      await sleep(pauseMs);
    }
    agent.destroy();
  }

  const working = Array.from({ length: gates }, work);
  return {
    async finish() {
      closing = true;
      await Promise.all(working);
      return { admitted, failures, lost, slowestMs: Math.round(slowestMs) };
    },
  };
}

/** Sends one scan, and returns what is wrong with the answer. */
function scan(
  url: string,
  { nonce, agent }: { readonly nonce: string; readonly agent: Agent | false },
): Promise<string | undefined> {
  const headers = { authorization: `Device ${deviceKey}`, "content-type": "application/json" };
  return ask(url, { method: "POST", headers, agent, status: 201, body: JSON.stringify({ nonce, type: "entry" }) });
}

/** Others, who read the documentation again and again: work for gateways alone. */
export interface Readers {
  /** Ends when every reader has an answer, and returns what was wrong. */
  finish(): Promise<{ readonly answers: number; readonly failures: readonly string[] }>;
}

export function openReaders({ baseUrl, readers }: { readonly baseUrl: string; readonly readers: number }): Readers {
  const failures: string[] = [];
  let answers = 0;
  let closing = false;
  const reading = Array.from({ length: readers }, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!closing) {
      const problem = await ask(`${baseUrl}/api/v1/openapi.json`, { method: "GET", headers: {}, agent, status: 200 });
      if (problem === undefined) answers += 1;
      else failures.push(problem);
      await sleep(20);
    }
    agent.destroy();
  });
  return {
    async finish() {
      closing = true;
      await Promise.all(reading);
      return { answers, failures };
    },
  };
}

interface Asked {
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly agent: Agent | false;
  readonly body?: string;
  /** Every other status is a problem. */
  readonly status: number;
}

/** Returns what is wrong with the answer. */
function ask(url: string, { method, headers, agent, body, status }: Asked): Promise<string | undefined> {
  return new Promise((resolve) => {
    const asked = request(url, { method, agent, headers, timeout: 15_000 }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => {
        text += part;
      });
      response.on("error", (error) => resolve(describe(error)));
      response.on("end", () =>
        resolve(response.statusCode === status ? undefined : `${response.statusCode} ${text.slice(0, 200)}`),
      );
    });
    asked.on("timeout", () => asked.destroy(new Error("no answer in 15 s")));
    asked.on("error", (error) => resolve(describe(error)));
    asked.end(body);
  });
}

function describe(error: Error & { readonly code?: string }): string {
  return error.code ?? error.message;
}
