import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { takesConnections } from "@tessera/testkit/engines/engine-process";
import { afterEach, expect, it } from "vitest";
import { createPlatformDatabase } from "../e2e/platform-database.ts";
import { keepLedger, openAsAdministrator } from "./fact-ledger.ts";
import { type Festival, planFestival, type Ticket } from "./festival.ts";
import { type Gates, openGates, sendScan } from "./gates.ts";
import { importOnce, importUntilAnswered } from "./import-until-answered.ts";
import { createPlatform, findLoggedErrors, type Platform } from "./platform-process.ts";
import { report, withDice } from "./seeded.ts";
import { verifyFestival } from "./verify-festival.ts";

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

/** After so long an orderly stop hangs. */
const longestStopMs = 120_000;

async function prepare(transport: "inprocess" | "grpc"): Promise<{ platform: Platform; db: Db; festival: Festival }> {
  const database = await createPlatformDatabase();
  undo.push(() => database.drop());
  const platform = await createPlatform({ databaseUrl: database.url, transport });
  undo.push(() => platform.remove());
  const db = openAsAdministrator(database.url);
  undo.push(() => db.close());
  return { platform, db, festival: planFestival({ tickets: 200, orders: 400 }) };
}

/** Locks tickets: scans of them wait until they are released. */
async function holdTickets(db: Db, tickets: readonly Ticket[]): Promise<{ letGo(): Promise<void> }> {
  const holder = await db.dedicated();
  await holder.run(sql`begin`);
  await holder.run(sql`
    select position.id from checkin.position
     where position.id = any(${tickets.map(({ position }) => position)}::bigint[])
       for update`);
  return {
    async letGo() {
      await holder.run(sql`rollback`);
      await holder.release();
    },
  };
}

it("requests in flight are answered when the platform is stopped, and nothing is lost", { retry: 3 }, () =>
  withDice(async (dice) => {
    const { platform, db, festival } = await prepare("grpc");
    const { baseUrl } = platform;
    const first = platform.start();
    await first.ready;
    await keepLedger(db);
    await importUntilAnswered({ baseUrl, body: festival.groundwork });
    const gates = openGates({ baseUrls: [baseUrl], festival, dice, connectionsMayBreak: true });
    const held = festival.spare.slice(0, 4);
    const hold = await holdTickets(db, held);
    await sleep(1000);

    const edition = festival.edition(dice.fork());
    const importing = importOnce({ baseUrl, body: edition.body });
    const slow = held.map((ticket, index) => {
      const scan = { gate: 90, nonce: `slow-${index}`, list: 1, position: ticket.position, type: "entry" as const };
      return sendScan({ baseUrl, scan, ticket });
    });
    await sleep(300);
    const toldAt = performance.now();
    first.signal("SIGTERM");
    await expect.poll(() => takesConnections(Number(new URL(baseUrl).port)), { interval: 5 }).toBe(false);
    const refusingAfterMs = performance.now() - toldAt;
    await hold.letGo();

    const ended = await Promise.race([first.ended, sleep(longestStopMs)]);
    const stoppedAfterMs = performance.now() - toldAt;
    report({ refusingAfterMs, stoppedAfterMs, importing: await importing });
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    for (const { outcome } of await Promise.all(slow)) expect(outcome).toEqual({ kind: "admitted" });
    expect(await importing).not.toHaveProperty("broken");
    expect(await importing).not.toHaveProperty("oddity");
    expect(findUnanswered(gates, { toldAt, closedAt: toldAt + refusingAfterMs })).toEqual([]);

    const second = platform.start();
    await second.ready;
    await importUntilAnswered({ baseUrl, body: edition.body });
    await gates.close();
    expect(gates.oddities).toEqual([]);
    const attempts = [...gates.attempts, ...toAttempts(held, toldAt)];
    expect(await verifyFestival({ baseUrl, db, festival, edition, attempts })).toEqual([]);
    expect(await findLoggedErrors(platform)).toEqual([]);
  }),
);

async function isStored(db: Db, ticket: Ticket | undefined): Promise<boolean> {
  const row = await db.maybeOne(sql`select 1 from boxoffice.position where position.id = ${ticket?.position}`);
  return row !== undefined;
}

/** How long before the signal a request was surely read, and how long after it a connection may still be closed on one. */
const marginMs = 100;

/**
 * Requests that should have been answered, and were not. A connection that waits to be accepted when the process closes its
 * port is reset, which no server can avoid: on a busy machine some do.
 */
function findUnanswered(
  { attempts }: Gates,
  { toldAt, closedAt }: { readonly toldAt: number; readonly closedAt: number },
): string[] {
  const broken = attempts.filter(({ outcome }) => outcome.kind === "unknown" && outcome.why !== "unavailable");
  report({ connectionsBroken: broken.map(({ invokedAt, endedAt }) => [invokedAt - toldAt, endedAt - toldAt]) });
  return broken
    .filter(
      ({ invokedAt, endedAt }) => Math.abs(invokedAt - toldAt) > marginMs && Math.abs(endedAt - closedAt) > marginMs,
    )
    .map(({ scan, outcome }) => `scan ${scan.nonce}: ${JSON.stringify(outcome)}`);
}

/** The slow scans as a gate would record them. */
function toAttempts(tickets: readonly Ticket[], toldAt: number) {
  return tickets.map(({ position }, index) => ({
    scan: { gate: 90, nonce: `slow-${index}`, list: 1, position, type: "entry" as const },
    invokedAt: toldAt - 300,
    endedAt: toldAt + longestStopMs,
    outcome: { kind: "admitted" } as const,
  }));
}

it("a signal that comes later ends it at once", async () => {
  const { platform, db, festival } = await prepare("inprocess");
  const { baseUrl } = platform;
  const life = platform.start();
  await life.ready;
  await importUntilAnswered({ baseUrl, body: festival.groundwork });
  const [ticket] = festival.spare;
  if (ticket === undefined) throw new Error("no ticket");
  const hold = await holdTickets(db, [ticket]);
  const scan = { gate: 0, nonce: "held", list: 1, position: ticket.position, type: "entry" as const };
  const scanning = sendScan({ baseUrl, scan, ticket });
  await sleep(200);
  life.signal("SIGTERM");
  // Within a second it would be the same one, which npm passes on.
  await sleep(1200);
  life.signal("SIGTERM");
  // An orderly stop would end with 0.
  expect(await life.ended).toMatchObject({ code: 143, stderr: "" });
  expect((await scanning).outcome.kind).toBe("unknown");
  await hold.letGo();

  const next = platform.start();
  await next.ready;
  expect((await sendScan({ baseUrl, scan, ticket })).outcome.kind).toBe("admitted");
  const rows = await db.many(
    sql`select scan.id from checkin.scan where scan.nonce = ${scan.nonce} and scan.successful`,
  );
  expect(rows).toHaveLength(1);
});

it("an endless import is answered before the stop, and asked to retry", () =>
  withDice(async (dice) => {
    const { platform, db, festival } = await prepare("inprocess");
    const { baseUrl } = platform;
    const life = platform.start();
    await life.ready;
    let goOn = true;
    async function* endless(): AsyncGenerator<Uint8Array> {
      // More than one batch: records of the next one wait for the end of the first.
      yield new TextEncoder().encode(`${festival.groundwork}\n${festival.edition(dice).body}\n`);
      for (; goOn; await sleep(50)) yield new TextEncoder().encode("\n");
    }
    const importing = importOnce({ baseUrl, body: ReadableStream.from(endless()) });
    await expect.poll(() => isStored(db, festival.tickets[0])).toBe(true);
    life.signal("SIGTERM");
    const ended = await Promise.race([life.ended, sleep(longestStopMs)]);
    goOn = false;
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(await importing).toHaveProperty("unavailable");
  }));
