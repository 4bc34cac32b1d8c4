import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "@tessera/kit/pg/sql";
import { createEmptyDatabase } from "@tessera/testkit/database";
import { afterEach, expect, it } from "vitest";
import { eventPath, ofOrganizer, operatorKey } from "../e2e/sample-records.ts";
import { keepLedger, openAsAdministrator } from "./fact-ledger.ts";
import { planFestival, type Ticket, toLines } from "./festival.ts";
import { importUntilAnswered } from "./import-until-answered.ts";
import { countOutcomes, measure, startLoad } from "./load.ts";
import { cutConnections } from "./mortal-postgres.ts";
import { createPlatform, findLoggedErrors } from "./platform-process.ts";
import { drawNonces, scanAtOnce } from "./scan-at-once.ts";
import type { Attempt } from "./scan-history.ts";
import { report, withDice } from "./seeded.ts";
import { verifyFestival } from "./verify-festival.ts";

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const token = `shared-key-${"s".repeat(40)}`;
const sharedKey = ({ active }: { readonly active: boolean }) =>
  toLines([ofOrganizer("api_key", { token, name: "shared", permissions: ["*"], all_events: true, active })]);

it("two processes on one database are one platform", () =>
  withDice(async (dice) => {
    const database = await createEmptyDatabase();
    undo.push(() => database.drop());
    const databaseUrl = database.url;
    const one = await createPlatform({ databaseUrl, transport: "inprocess" });
    const other = await createPlatform({ databaseUrl, transport: "grpc" });
    undo.push(
      () => one.remove(),
      () => other.remove(),
    );
    const db = openAsAdministrator(database.url);
    undo.push(() => db.close());

    // At the same moment, on an empty database: both migrate it.
    const lives = [one.start(), other.start()];
    await Promise.all(lives.map(({ ready }) => ready));
    await keepLedger(db);
    const festival = planFestival({ tickets: 200, orders: 200 });
    const baseUrls = [one.baseUrl, other.baseUrl] as const;
    await importUntilAnswered({ baseUrl: one.baseUrl, body: `${festival.groundwork}\n${sharedKey({ active: true })}` });

    const load = startLoad({ baseUrls, festival, dice, connectionsMayBreak: true });
    const attempts: Attempt[] = [];
    const own = festival.spare.slice(0, 11);
    for (const ticket of own.slice(0, 10)) {
      const scans = await scanAtOnce({ baseUrls, ticket, nonces: drawNonces(dice, 20) });
      attempts.push(...scans);
      expect(countOutcomes(scans)).toEqual({ admitted: 1, already_redeemed: 19 });
    }
    const [nonce = ""] = drawNonces(dice, 1);
    const ticket = own[10] as Ticket;
    const repeated = await scanAtOnce({ baseUrls, ticket, nonces: Array.from({ length: 50 }, () => nonce) });
    attempts.push(...repeated);
    expect(countOutcomes(repeated)).toEqual({ admitted: 50 });
    expect(await db.many(sql`select scan.id from checkin.scan where scan.nonce = ${nonce}`)).toHaveLength(1);

    expect(await Promise.all(baseUrls.map(askWithSharedKey))).toEqual([200, 200]);
    await importUntilAnswered({ baseUrl: one.baseUrl, body: sharedKey({ active: false }) });
    const revokedAt = performance.now();
    await expect.poll(() => askWithSharedKey(other.baseUrl), { interval: 20 }).toBe(401);
    const revokedAfterMs = Math.round(performance.now() - revokedAt);
    expect(await askWithSharedKey(one.baseUrl)).toBe(401);

    const person = await signIn(one.baseUrl, other.baseUrl);
    expect(await Promise.all(baseUrls.map(person.ask))).toEqual([200, 200]);
    await person.revoke(one.baseUrl);
    expect(await person.ask(one.baseUrl)).toBe(401);
    await expect.poll(() => person.ask(other.baseUrl), { interval: 20 }).toBe(401);

    // Either may lead the relays: both are killed in turn while facts are in flight.
    const takenOverAfterMs: number[] = [];
    for (const [index, [dying, living]] of [[one, other] as const, [other, one] as const].entries()) {
      await sleep(dice.below(500));
      await lives[index]?.kill();
      const killedAt = performance.now();
      await importUntilAnswered({ baseUrl: living.baseUrl, body: sharedKey({ active: index === 0 }) });
      takenOverAfterMs.push(Math.round(performance.now() - killedAt));
      expect(await askWithSharedKey(living.baseUrl)).toBe(index === 0 ? 200 : 401);
      lives[index] = dying.start();
      await lives[index].ready;
    }

    // The former leader may still deliver facts that the new one has taken.
    for (let round = 0; round < 4; round += 1) {
      await sleep(dice.below(400));
      // A process that lost its connection needs a moment to reconnect.
      await expect.poll(() => cutConnections(db)).toBeGreaterThan(0);
    }

    const { edition, oddities, attempts: ofGates, imports } = await load.finish();
    report({ revokedAfterMs, takenOverAfterMs, ...measure({ attempts: ofGates, imports }) });
    expect(oddities).toEqual([]);
    const all = [...ofGates, ...attempts];
    expect(await verifyFestival({ baseUrl: one.baseUrl, db, festival, edition, attempts: all })).toEqual([]);
    expect([
      ...(await findLoggedErrors(one, { outage: true })),
      ...(await findLoggedErrors(other, { outage: true })),
    ]).toEqual([]);
  }));

/** Signs in at one gateway with the link that another has made. */
async function signIn(maker: string, opener: string) {
  const json = { "content-type": "application/json" };
  const asOperator = { authorization: `Token ${operatorKey}` };
  const ofOrganizers = `/api/v1${/\/organizers\/[^/]+/.exec(eventPath)?.[0]}`;
  const made = await fetch(`${maker}${ofOrganizers}/signinlinks/`, {
    method: "POST",
    headers: { ...json, ...asOperator },
    body: JSON.stringify({ name: "shared", all_events: true }),
  });
  const { id, link } = (await made.json()) as { readonly id: string; readonly link: string };
  const token = new URL(link).hash.replace("#link=", "");
  const opening = { method: "POST", headers: json, body: JSON.stringify({ link: token }) };
  const opened = await fetch(`${opener}/api/v1/session/`, opening);
  const cookie = opened.headers.get("set-cookie")?.split(";")[0] ?? "";
  expect((await fetch(`${maker}/api/v1/session/`, opening)).status).toBe(400);
  return {
    async ask(baseUrl: string): Promise<number> {
      const response = await fetch(`${baseUrl}${eventPath}/checkinlists/1/`, { headers: { cookie } });
      await response.arrayBuffer();
      return response.status;
    },
    async revoke(baseUrl: string): Promise<void> {
      const revoked = { method: "DELETE", headers: asOperator };
      expect((await fetch(`${baseUrl}${ofOrganizers}/sessions/${id}/`, revoked)).status).toBe(204);
    },
  };
}

async function askWithSharedKey(baseUrl: string): Promise<number> {
  const response = await fetch(`${baseUrl}${eventPath}/checkinlists/1/`, {
    headers: { authorization: `Token ${token}` },
  });
  await response.arrayBuffer();
  return response.status;
}
