import { setTimeout as sleep } from "node:timers/promises";
import { consumerName } from "@tessera/kit/bus/accept-facts";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { PositionChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { Order, Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { entityKey, topics } from "@tessera/protos/topics";
import { afterEach, expect, it } from "vitest";
import { createPlatformDatabase } from "../e2e/platform-database.ts";
import { eventPath, ofEvent, ofOrganizer, orderData, positionData } from "../e2e/sample-records.ts";
import { checkFacts } from "./check-facts.ts";
import { keepLedger, openAsAdministrator, readLedger, readParked, waitForEmptyOutboxes } from "./fact-ledger.ts";
import { apiKey, type Festival, planFestival, toLines } from "./festival.ts";
import { openGates, sendScan } from "./gates.ts";
import { importOnce, importUntilAnswered } from "./import-until-answered.ts";
import { createPlatform, type Platform, readLog } from "./platform-process.ts";
import { type Dice, report, withDice } from "./seeded.ts";
import { verifyFestival } from "./verify-festival.ts";

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function prepare(dice: Dice): Promise<{ platform: Platform; db: Db; festival: Festival }> {
  const database = await createPlatformDatabase();
  undo.push(() => database.drop());
  const platform = await createPlatform({ dice, databaseUrl: database.url });
  undo.push(() => platform.remove());
  const db = openAsAdministrator(database.url);
  undo.push(() => db.close());
  const festival = planFestival({ tickets: 200, orders: 200 });
  await platform.start().ready;
  await keepLedger(db);
  await importUntilAnswered({ baseUrl: platform.baseUrl, body: festival.groundwork });
  return { platform, db, festival };
}

/** Bytes that are no message: a tag without its value, a length beyond the end, a number without an end. */
const unreadable = ["ff", "0aff01", "08ffffffffffffffffffff"];

/** Readable position facts: one without a position, and one with a text that no database stores. */
function unusable(position: number): string[] {
  const nothing = new Uint8Array();
  const fact = {
    ...PositionChanged.decode(nothing),
    organizer: "bigevents",
    event: "sampleconf",
    // Newer than everything, so that it would replace the current state.
    revision: 2 ** 50,
  };
  const state = { ...Position.decode(nothing), id: position, secret: "\0", order: Order.decode(nothing) };
  return [fact, { ...fact, position: state }].map((each) =>
    Buffer.from(PositionChanged.encode(each).finish()).toString("hex"),
  );
}

/** Writes bytes into an outbox, as a broken producer would. */
async function poison(
  db: Db,
  { topic, key, bytes }: { topic: { readonly name: string }; key: string; bytes: readonly string[] },
): Promise<string[]> {
  const rows = await db.many<{ fact_id: string }>(sql`
    insert into boxoffice.outbox (topic, key, payload)
    select ${topic.name}, ${key}, decode(poison.hex, 'hex')
      from unnest(${bytes}::text[]) as poison (hex)
    returning outbox.fact_id`);
  return rows.map((row) => row.fact_id);
}

it("unreadable facts are parked with their cause, and the next facts are applied", () =>
  withDice(async (dice) => {
    const { platform, db, festival } = await prepare(dice);
    const { baseUrl } = platform;
    const gates = openGates({ baseUrls: [baseUrl], festival, dice, connectionsMayBreak: false });
    const edition = festival.edition(dice.fork());
    const [ticket] = festival.tickets;
    if (ticket === undefined) throw new Error("no tickets");
    // A key of its own: facts of one key are in order because their writers exclude each other.
    const key = entityKey("bigevents", "sampleconf", 700_001);
    const importing = importUntilAnswered({ baseUrl, body: edition.body });
    const injected: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      await sleep(dice.below(300));
      const bytes = [dice.pick(unreadable), unusable(ticket.position)[round % 2] ?? ""];
      injected.push(...(await poison(db, { topic: topics.positionChanged, key, bytes })));
    }
    const shared = await poison(db, {
      topic: topics.eventChanged,
      key: entityKey("bigevents", "sampleconf", ""),
      bytes: unreadable.slice(0, 2),
    });
    const { ms } = await importing;
    await gates.close();

    await expect.poll(async () => (await readParked(db)).length).toBe(injected.length + 6 * shared.length);
    const parked = await readParked(db);
    for (const consumer of [consumerName("checkin", topics.positionChanged.name)])
      expect(
        parked
          .filter((each) => each.consumer === consumer)
          .map(({ factId }) => factId)
          .sort(),
      ).toEqual(injected.sort());
    for (const consumer of ["checkin", "gateway", "layout-and-render", "offline-sales", "voucher"].map((name) =>
      consumerName(name, topics.eventChanged.name),
    ))
      expect(
        parked
          .filter((each) => each.consumer === consumer)
          .map(({ factId }) => factId)
          .sort(),
      ).toEqual(shared.sort());
    for (const { cause } of parked) expect(cause).toMatch(/^\w*[eE]rror/);

    expect(gates.oddities).toEqual([]);
    const { attempts } = gates;
    expect(await verifyFestival({ baseUrl, db, festival, edition, attempts, poisoned: true })).toEqual([]);
    const errors = (await readLog(platform)).filter(({ level }) => level === "error");
    expect(new Set(errors.map(({ message }) => message))).toEqual(new Set(["fact parked: no retry could apply it"]));
    expect(errors).toHaveLength(parked.length);
    report({ importMs: ms, causes: [...new Set(parked.map(({ cause }) => cause))] });
  }));

it("a consumer that is stuck delays only its own facts", () =>
  withDice(async (dice) => {
    const { platform, db, festival } = await prepare(dice);
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
    const waiting = await waitForEmptyOutboxes(db, 5000);
    expect(checkFacts(await readLedger(db, { waiting }))).toEqual([]);
    expect(await readParked(db)).toEqual([]);
    report({ keyAfterMs });
  }));
