import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { afterEach, expect, it } from "vitest";
import { createPlatformDatabase } from "../e2e/platform-database.ts";
import { eventPath, ofEvent, ofOrganizer, orderData, positionData } from "../e2e/sample-records.ts";
import { checkFacts } from "./check-facts.ts";
import { keepLedger, openAsAdministrator, readLedger, readParked, waitForEmptyOutboxes } from "./fact-ledger.ts";
import { apiKey, type Festival, planFestival, toLines } from "./festival.ts";
import { sendScan } from "./gates.ts";
import { importOnce, importUntilAnswered } from "./import-until-answered.ts";
import { createPlatform, type Platform } from "./platform-process.ts";
import { report, withDice } from "./seeded.ts";

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function prepare(): Promise<{ platform: Platform; db: Db; festival: Festival }> {
  const database = await createPlatformDatabase();
  undo.push(() => database.drop());
  const platform = await createPlatform({ databaseUrl: database.url });
  undo.push(() => platform.remove());
  const db = openAsAdministrator(database.url);
  undo.push(() => db.close());
  const festival = planFestival({ tickets: 200, orders: 200 });
  await platform.start().ready;
  await keepLedger(db);
  await importUntilAnswered({ baseUrl: platform.baseUrl, body: festival.groundwork });
  return { platform, db, festival };
}

it("a consumer that is stuck delays only its own facts", () =>
  withDice(async (dice) => {
    const { platform, db, festival } = await prepare();
    const { baseUrl } = platform;
    const [held, free] = festival.spare;
    if (held === undefined || free === undefined) throw new Error("no tickets");
    const holder = await db.dedicated();
    await holder.run(sql`begin`);
    await holder.run(sql`select position.id from checkin.position where position.id = ${held.position} for update`);

    const change = (name: string) =>
      ofEvent(
        "order",
        orderData({
          code: `G${held.position}`,
          positions: [positionData({ id: held.position, secret: held.secret, attendee_name: name })],
        }),
      );
    const newKey = `late-key-${"l".repeat(40)}`;
    const newOne = ofOrganizer("api_key", { token: newKey, name: "late", permissions: ["*"], all_events: true });
    const startedAt = performance.now();
    const importing = importOnce({ baseUrl, body: toLines([change("First"), newOne, change("Last")]) });
    const ask = async (key: string, path = "") => {
      const response = await fetch(`${baseUrl}${eventPath}/checkinlists/1/${path}`, {
        headers: { authorization: `Token ${key}` },
      });
      return { status: response.status, body: (await response.json()) as { attendee_name?: string } };
    };
    await expect.poll(async () => (await ask(newKey)).status, { interval: 20 }).toBe(200);
    const keyAfterMs = Math.round(performance.now() - startedAt);
    const scan = {
      gate: 0,
      nonce: `beside-${dice.below(2 ** 31)}`,
      list: 1,
      position: free.position,
      type: "entry" as const,
    };
    expect((await sendScan({ baseUrl, scan, ticket: free })).outcome).toEqual({ kind: "admitted" });
    expect((await ask(apiKey, `positions/${held.position}/`)).body.attendee_name).toBe("Guest 0");

    await holder.run(sql`rollback`);
    await holder.release();
    const outcome = await importing;
    expect(outcome).toMatchObject({ answer: { accepted: 3, rejected: 0, settled: true } });
    expect((await ask(apiKey, `positions/${held.position}/`)).body.attendee_name).toBe("Last");
    const waiting = await waitForEmptyOutboxes(db, 60_000);
    expect(checkFacts(await readLedger(db, { waiting }))).toEqual([]);
    expect(await readParked(db)).toEqual([]);
    report({ keyAfterMs });
  }));
