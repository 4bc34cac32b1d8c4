import { type RedisServer, startRedis } from "@tessera/testkit/engines/redis-server";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { eventPath, listData, ofEvent, ofOrganizer } from "../e2e/sample-records.ts";
import { findUncertain, longestSilenceMs, type Span, slowestScanMs } from "./availability.ts";
import { deviceKey, type Ticket, toLines } from "./festival.ts";
import { type FestivalCluster, startFestivalCluster } from "./festival-cluster.ts";
import { openGates } from "./gates.ts";
import { importUntilAnswered } from "./import-until-answered.ts";
import { countOutcomes, untilScanned } from "./load.ts";
import { report, withDice } from "./seeded.ts";

let redis: RedisServer;
let cluster: FestivalCluster;

/** Gates do not scan it, so its state is the same at any time. */
const quietList = 9;
const perMinute = 60;

const phases = ["well", "killed", "empty", "frozen", "thawed"] as const;
type Phase = (typeof phases)[number];

const keyOf = (what: string, phase: string) => `${what}-key-${phase}-${"q".repeat(40)}`;

beforeAll(async () => {
  redis = await startRedis();
  cluster = await startFestivalCluster({
    redisUrl: redis.url,
    environment: { RATE_LIMIT: String(perMinute), RATE_LIMIT_REDEEM: "1000000" },
    records: toLines([
      ofEvent("checkin_list", listData({ id: quietList, name: "Quiet list" })),
      ...phases.flatMap((phase) => ["asking", "limited", "revoked"].map((what) => apiKeyRecord(keyOf(what, phase)))),
    ]),
  });
});

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

afterAll(async () => {
  await cluster?.remove();
  await redis?.stop();
});

function apiKeyRecord(token: string, { active = true } = {}): unknown {
  return ofOrganizer("api_key", { token, name: "of a phase", permissions: ["*"], all_events: true, active });
}

/** How many scans gates decide in each phase. */
const scansMeanwhile = 100;

it("[S10.3] Redis may run, be dead, empty or frozen: every answer is the same, and comes meanwhile", () =>
  withDice(async (dice) => {
    const { festival, baseUrls } = cluster;
    const [first, second] = festival.spare;
    if (first === undefined || second === undefined) throw new Error("no tickets");
    const edition = festival.edition(dice.fork());
    await importUntilAnswered({ baseUrl: baseUrls[0], body: edition.body });
    // No imports meanwhile: they would change the answers.
    const gates = openGates({
      baseUrls,
      festival,
      dice: dice.fork(),
      connectionsMayBreak: false,
    });
    undo.push(() => gates.close());
    const askAll = async (phase: Phase) => {
      const answers: string[] = [];
      for (const question of questions({ phase, first, second }))
        for (const baseUrl of baseUrls) answers.push(await ask(baseUrl, question));
      return answers;
    };
    // In the first round scans are new.
    await askAll("well");
    const spans: (Span & { readonly phase: Phase })[] = [];
    const measured: Record<string, unknown>[] = [];
    const settings: Readonly<Record<Phase, () => unknown>> = {
      well: () => {},
      killed: () => redis.kill(),
      empty: () => redis.restart(),
      frozen: () => redis.pause(),
      thawed: () => redis.resume(),
    };
    let usual: readonly string[] | undefined;
    for (const phase of phases) {
      const from = performance.now();
      await settings[phase]();
      const answers = await askAll(phase);
      usual ??= answers;
      expect(answers).toEqual(usual);
      const limited = await exhaust(keyOf("limited", phase));
      const revokedAfterMs = await revoke(keyOf("revoked", phase));
      await untilScanned(gates.attempts, from, scansMeanwhile);
      spans.push({ phase, from, to: performance.now() });
      measured.push({ phase, limited, revokedAfterMs });
      // Without Redis, or while it is slow, each process counts for itself. When it is back, it begins to count.
      const isBack = phase === "empty" || phase === "thawed";
      // On a slow machine the questions take more than one minute.
      const counted = limited.minutes * perMinute;
      if (phase === "well") expect(limited.allowed).toBeLessThan(1.5 * counted);
      expect(limited.allowed).toBeGreaterThanOrEqual(perMinute);
      expect(limited.allowed).toBeLessThanOrEqual((baseUrls.length + (isBack ? 1 : 0)) * counted);
    }
    await gates.close();
    const { attempts, oddities } = gates;
    cluster.attempts.push(...attempts);
    const seen = spans.map((span) => ({
      phase: span.phase,
      longestSilenceMs: longestSilenceMs(attempts, span),
      slowestScanMs: slowestScanMs(attempts, span),
      outcomes: countOutcomes(attempts.filter(({ invokedAt }) => invokedAt > span.from && invokedAt < span.to)),
    }));
    report({ measured, seen, outcomes: countOutcomes(attempts) });
    for (const span of spans) expect(findUncertain(attempts, span)).toEqual([]);
    expect(oddities).toEqual([]);
    expect(await cluster.verify(edition)).toEqual([]);
    expect(cluster.loggedErrors()).toEqual([]);
  }));

interface Question {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly as: string;
  readonly body?: unknown;
  /** A scan with the same answer every time, for the comparison with the stored scans. */
  readonly scan?: { readonly nonce: string; readonly ticket: Ticket };
}

/** Requests that may be repeated. */
function questions({ phase, first, second }: { phase: Phase; first: Ticket; second: Ticket }): Question[] {
  const as = `Token ${keyOf("asking", phase)}`;
  const get = (path: string, who = as): Question => ({ method: "GET", path: `${eventPath}${path}`, as: who });
  const list = `/checkinlists/${quietList}/`;
  const redeem = (nonce: string, ticket: Ticket): Question => ({
    method: "POST",
    path: `${eventPath}${list}positions/${encodeURIComponent(ticket.secret)}/redeem/`,
    as: `Device ${deviceKey}`,
    body: { nonce },
    scan: { nonce, ticket },
  });
  return [
    get(list),
    get(`${list}?unknown=1`),
    get("/checkinlists/123456/"),
    get("-unknown/checkinlists/"),
    get(list, "Token nobody"),
    get(list, ""),
    { method: "POST", path: `${eventPath}/checkinlists/`, as, body: { name: 5, rules: { no: [] } } },
    { method: "POST", path: `${eventPath}/checkinlists/`, as, body: "no object" },
    redeem("quiet-first", first),
    redeem("quiet-second", second),
    redeem("quiet-again", first),
    redeem("quiet-unknown", { position: 0, secret: "nobody has this" }),
  ];
}

/** Status and body of an answer, as one text. */
async function ask(baseUrl: string, { method, path, as, body, scan }: Question): Promise<string> {
  const invokedAt = performance.now();
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { ...(as === "" ? {} : { authorization: as }), "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (scan !== undefined) {
    const { reason } = JSON.parse(text) as { reason?: string };
    cluster.attempts.push({
      scan: { gate: 50, nonce: scan.nonce, list: quietList, position: scan.ticket.position, type: "entry" },
      invokedAt,
      endedAt: performance.now(),
      outcome: reason === undefined ? { kind: "admitted" } : { kind: "refused", reason },
    });
  }
  return `${method} ${path}: ${response.status} ${text}`;
}

/** Sends requests with one key to all gateways until each refuses. */
async function exhaust(key: string): Promise<{ allowed: number; slowestMs: number; minutes: number }> {
  const from = performance.now();
  let allowed = 0;
  let slowestMs = 0;
  const refusing = new Set<string>();
  const question = { method: "GET", path: `${eventPath}/checkinlists/${quietList}/`, as: `Token ${key}` } as const;
  while (refusing.size < cluster.baseUrls.length) {
    const askIt = async (baseUrl: string) => {
      const started = performance.now();
      const answer = await ask(baseUrl, question);
      slowestMs = Math.max(slowestMs, Math.round(performance.now() - started));
      if (answer.includes(": 200 ")) allowed += 1;
      else {
        expect(answer).toContain(": 429 ");
        refusing.add(baseUrl);
      }
    };
    await Promise.all(cluster.baseUrls.filter((each) => !refusing.has(each)).map(askIt));
  }
  return { allowed, slowestMs, minutes: 1 + Math.floor((performance.now() - from) / 60_000) };
}

/** Revokes a key and waits until every gateway refuses it. */
async function revoke(key: string): Promise<number> {
  const question = { method: "GET", path: `${eventPath}/checkinlists/${quietList}/`, as: `Token ${key}` } as const;
  for (const baseUrl of cluster.baseUrls) expect(await ask(baseUrl, question)).toContain(": 200 ");
  const started = performance.now();
  await importUntilAnswered({ baseUrl: cluster.baseUrls[0], body: toLines([apiKeyRecord(key, { active: false })]) });
  for (const baseUrl of cluster.baseUrls) {
    await expect.poll(() => ask(baseUrl, question), { interval: 50 }).toContain(": 401 ");
  }
  return Math.round(performance.now() - started);
}
