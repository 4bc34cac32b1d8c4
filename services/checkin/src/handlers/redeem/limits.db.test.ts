import { sql } from "@tessera/kit/pg/sql";
import type { CheckinListFields } from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { Scan } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { rollFrom } from "@tessera/testkit/dice";
import { untilWaiting } from "@tessera/testkit/until-waiting";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { countNoted } from "../../capacity/count-noted.ts";
import { lockCounts, noteLimits } from "../../store/persons-inside.ts";
import { earlierCheckin, eventFact, itemFact, noon, order, place, positionFact } from "../../testing/facts.ts";
import { recount } from "../../testing/recount.ts";
import { inWord, listFields, type RunningCheckin, scan, startCheckin } from "../../testing/start-checkin.ts";

let database: TestDatabase;
/** Two replicas, each with its own connections and batches. */
let replicas: readonly [RunningCheckin, RunningCheckin];
let checkin: RunningCheckin;
const tickets = 120;

beforeAll(async () => {
  database = await createTestDatabase([
    { schema: "checkin", migrations: new URL("../../../migrations/", import.meta.url) },
  ]);
  replicas = [await startCheckin(database.open("checkin")), await startCheckin(database.open("checkin"))];
  [checkin] = replicas;
});
afterAll(() => database.drop());
beforeEach(async () => {
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact()]);
  await checkin.deliver(topics.itemChanged, [itemFact(10)]);
  await checkin.deliver(
    topics.positionChanged,
    Array.from({ length: tickets }, (_, index) => positionFact(index + 1)),
  );
});

const exit = { type: ScanType.EXIT } as const;
const enter = (list: number, ticket: number, changes: Partial<Scan> = {}) => scan(list, `secret${ticket}`, changes);
const redeem = async (sent: Scan) => inWord(await checkin.redeem(sent));

/** Sends every scan in a call of its own, all at once, alternating between the replicas. */
const atOnce = (scans: readonly Scan[]) =>
  Promise.all(scans.map(async (each, index) => inWord(await (replicas[index % 2] ?? checkin).redeem(each))));

const update = (id: number, fields: Partial<CheckinListFields>) =>
  checkin.lists.updateCheckinList({
    ...{ ...place, id, fields: listFields(fields) },
    updateMask: Object.keys(fields).map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)),
  });

/** Those inside as they are counted, and as the presences have them. */
async function inside(list: number): Promise<number> {
  const { counted, present } = await checkin.db.one<{ counted: number; present: number }>(sql`
    select (select held.persons from persons_inside as held where held.list = ${list}) as counted,
           (select count(*) from presence where presence.list = ${list} and presence.last_type = 'entry') as present`);
  expect(counted).toBe(present);
  return present;
}

async function expectTrueCounts(): Promise<void> {
  const { counted, recounted } = await recount(checkin.db);
  expect(counted).toEqual(recounted);
}

describe("a hard limit", () => {
  it("[C10.2, C10.3] refuses an entry beyond it by the rules, says why, and lets the next in after an exit", async () => {
    const { id } = await checkin.createList({ hardLimit: 2 });
    expect(await checkin.redeemAll([enter(id, 1), enter(id, 2)])).toHaveLength(2);
    const { outcome } = await checkin.redeem(enter(id, 3));
    expect(outcome).toMatchObject({
      $case: "refused",
      value: { reason: "rules", explanation: "Full: 2 persons may be inside." },
    });
    expect(await redeem(enter(id, 1))).toBe("already_redeemed");
    expect(await redeem(enter(id, 1, exit))).toBe("admitted");
    expect(await redeem(enter(id, 3))).toBe("admitted");
    expect(await redeem(enter(id, 1))).toBe("rules");
    expect(await inside(id)).toBe(2);
  });

  it("[C10.4] lets forced scans in, and counts them, also those of tickets that the list does not count", async () => {
    await checkin.deliver(topics.positionChanged, [
      positionFact(200, { order: order({ status: "ORDER_STATUS_CANCELED" }) }),
    ]);
    const { id } = await checkin.createList({ hardLimit: 1 });
    expect(await redeem(enter(id, 200, { force: true }))).toBe("admitted");
    expect(await redeem(enter(id, 1))).toBe("rules");
    expect(await redeem(enter(id, 1, { force: true }))).toBe("admitted");
    expect(await inside(id)).toBe(2);
    const { counted } = await checkin.db.one<{ counted: number }>(sql`
      select count(*) as counted from scan where scan.overruled = 'limit' and scan.force_sent`);
    expect(counted).toBe(1);
  });

  it("[C10.3] is never exceeded by 120 gates at once on two replicas, whatever leaves meanwhile", async () => {
    const { id } = await checkin.createList({ hardLimit: 50 });
    const words = await atOnce(Array.from({ length: tickets }, (_, index) => enter(id, index + 1)));
    expect(words.filter((word) => word === "admitted")).toHaveLength(50);
    expect(words.filter((word) => word === "rules")).toHaveLength(tickets - 50);
    expect(await inside(id)).toBe(50);
    let most = 0;
    const watching = { on: true };
    const watch = (async () => {
      while (watching.on) most = Math.max(most, await inside(id));
    })();
    const admitted = words.flatMap((word, index) => (word === "admitted" ? [index + 1] : []));
    const others = words.flatMap((word, index) => (word === "rules" ? [index + 1] : []));
    const at = noon + 1;
    const mixed = others.flatMap((ticket, index) => [
      enter(id, ticket, { at }),
      ...(admitted[index] === undefined ? [] : [enter(id, admitted[index], { ...exit, at })]),
    ]);
    await atOnce(mixed);
    watching.on = false;
    await watch;
    expect(most).toBeLessThanOrEqual(50);
    expect(await redeem(enter(id, others[0] ?? 0, { at: noon + 2, force: true }))).toBe("admitted");
    expect(await inside(id)).toBeGreaterThan(0);
    await expectTrueCounts();
  });

  it("[C10.3] gives the last place to another ticket while one in front of it is busy", async () => {
    const { id } = await checkin.createList({ hardLimit: 1 });
    const { busy, other } = await checkin.db.transaction(async (tx) => {
      await tx.run(sql`select position.id from position where position.id = 1 for update`);
      const busy = redeem(enter(id, 1));
      const other = await redeem(enter(id, 2));
      return { busy, other };
    });
    expect([other, await busy]).toEqual(["admitted", "rules"]);
    expect(await inside(id)).toBe(1);
  });

  it("[C10.3] makes a scan wait for the count before it holds its ticket, so that nothing waits for both", async () => {
    const { id } = await checkin.createList({ hardLimit: 2 });
    const { answer } = await checkin.db.transaction(async (tx) => {
      await tx.run(sql`select from persons_inside where persons_inside.list = ${id} for no key update`);
      const answer = redeem(enter(id, 1));
      await untilWaiting(checkin.db);
      await tx.run(sql`select from position where position.id = 1 for update`);
      return { answer };
    });
    expect(await answer).toBe("admitted");
  });

  it("[C10.3] makes scans wait for counts in one order also while these are not complete yet", async () => {
    const { first, second } = await twoCounts();
    await checkin.db.run(sql`update persons_inside set is_counted = false`);
    // One makes a presence of the first list, the other changes one of the second: two triggers.
    const scans = [enter(first, 2), enter(second, 1, exit)];
    const answers = await whileHeld({ held: first, free: second }, () => checkin.redeemAll(scans));
    expect(answers.map(inWord)).toEqual(["admitted", "admitted"]);
  });

  it("[C10.3] makes imported check-ins wait for counts in the same order", async () => {
    const { first, second } = await twoCounts();
    const fact = positionFact(1, {}, { revision: 2, earlierCheckins: [earlierCheckin(1, { list: first })] });
    await whileHeld({ held: first, free: second }, () => checkin.deliver(topics.positionChanged, [fact]));
    expect([await inside(first), await inside(second)]).toEqual([1, 1]);
  });

  /** Two lists with limits; the first ticket is inside of the second. */
  async function twoCounts() {
    const [first, second] = [await checkin.createList({ softLimit: 9 }), await checkin.createList({ softLimit: 9 })];
    await redeem(enter(second.id, 1));
    return { first: first.id, second: second.id };
  }

  /** Starts something while a count is locked; when it waits, another count must be free: held, it would be part of a deadlock. */
  async function whileHeld<T>({ held, free }: { held: number; free: number }, start: () => Promise<T>): Promise<T> {
    const { result } = await checkin.db.transaction(async (tx) => {
      await lockCounts(tx, [{ ...place, id: held }]);
      const result = start();
      await untilWaiting(checkin.db);
      await tx.run(sql`select from persons_inside where persons_inside.list = ${free} for no key update nowait`);
      return { result };
    });
    return await result;
  }

  it("[C10.5] counts those who are inside already when it is set, and nothing once it is taken away", async () => {
    const { id } = await checkin.createList();
    await checkin.redeemAll([enter(id, 1), enter(id, 2), enter(id, 3)]);
    await update(id, { hardLimit: 3 });
    expect(await redeem(enter(id, 4))).toBe("rules");
    await update(id, { hardLimit: 4 });
    expect(await redeem(enter(id, 4))).toBe("admitted");
    await update(id, { hardLimit: undefined });
    expect(await redeem(enter(id, 5))).toBe("admitted");
    expect(await checkin.db.many(sql`select from persons_inside`)).toEqual([]);
  });

  it("[C10.5] counts a scan that began while it was set and ends later", async () => {
    const { id } = await checkin.createList({ allowMultipleEntries: true });
    await redeem(enter(id, 1));
    await redeem(enter(id, 1, exit));
    const count = () => countNoted(checkin.db, { longestMs: 200 });
    const [isSet, isScanned] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const setting = checkin.db.transaction(async (tx) => {
      await noteLimits(tx, [{ ...place, id, softLimit: null, hardLimit: 9 }]);
      isSet.resolve();
      await isScanned.promise;
    });
    await isSet.promise;
    await checkin.db.transaction(async (tx) => {
      await tx.run(sql`update presence set last_type = 'entry' where presence.list = ${id}`);
      isScanned.resolve();
      await setting;
      expect(await count()).toBe(false);
    });
    expect(await count()).toBe(true);
    expect(await inside(id)).toBe(1);
  });

  it("[C10.5] counts exactly when it is set while gates scan", async () => {
    const { id } = await checkin.createList({ allowMultipleEntries: true });
    const dice = rollFrom(7);
    const sending = { on: true };
    const gates = Array.from({ length: 8 }, async (_, gate) => {
      while (sending.on) {
        const sent = enter(id, 1 + dice.below(tickets), {
          ...(dice.below(3) === 0 ? exit : {}),
          at: noon + dice.below(1000),
        });
        await (replicas[gate % 2] ?? checkin).redeem(sent);
      }
    });
    const isCounted = async () =>
      (await checkin.db.one<{ counted: boolean }>(sql`select held.is_counted as counted from persons_inside as held`))
        .counted;
    for (let round = 0; round < 5; round += 1) {
      await update(id, { softLimit: 1000 });
      await expect.poll(isCounted).toBe(true);
      await update(id, { softLimit: undefined });
    }
    await update(id, { softLimit: 1000 });
    await expect.poll(isCounted).toBe(true);
    sending.on = false;
    await Promise.all(gates);
    expect(await inside(id)).toBeGreaterThan(0);
    await expectTrueCounts();
  });
});

describe("lists that a visitor leaves by entering another", () => {
  const history = async (ticket: number) =>
    (
      await checkin.db.many<{ list: number; type: string; automatic: boolean }>(sql`
        select scan.list, scan.type, scan.auto_checked_in as automatic
          from scan
         where scan.position = ${ticket}
           and scan.successful
         order by scan.id`)
    ).map(({ list, type, automatic }) => [list, type, automatic]);

  it("[C10.6] are left by an exit that the platform makes, at the time of the entry", async () => {
    const field = (await checkin.createList({ name: "Field", hardLimit: 1 })).id;
    const stage = (await checkin.createList({ name: "Stage", takesFrom: [field] })).id;
    expect(await redeem(enter(field, 1))).toBe("admitted");
    expect(await redeem(enter(field, 2))).toBe("rules");
    expect(await redeem(enter(stage, 1, { at: noon + 5, deviceId: 3, gate: 4 }))).toBe("admitted");
    expect(await history(1)).toEqual([
      [field, "entry", false],
      [stage, "entry", false],
      [field, "exit", true],
    ]);
    expect(await inside(field)).toBe(0);
    expect(await redeem(enter(field, 2))).toBe("admitted");
    // A visitor who was never inside there leaves nothing.
    expect(await redeem(enter(stage, 3))).toBe("admitted");
    expect(await history(3)).toEqual([[stage, "entry", false]]);
    await expectTrueCounts();
  });

  it("[C10.6] are not left by an entry that is refused, or older than the entry there", async () => {
    const field = (await checkin.createList({ name: "Field" })).id;
    const stage = (await checkin.createList({ name: "Stage", takesFrom: [field], hardLimit: 1 })).id;
    await checkin.redeemAll([enter(field, 1), enter(stage, 2)]);
    expect(await redeem(enter(stage, 1))).toBe("rules");
    expect(await redeem(enter(stage, 1, { at: noon - 5, force: true }))).toBe("admitted");
    expect(await history(1)).toEqual([
      [field, "entry", false],
      [stage, "entry", false],
    ]);
  });

  it("[C10.6] are left also by an entry there that comes late, at the time of the newer one", async () => {
    const field = (await checkin.createList({ name: "Field" })).id;
    const stage = (await checkin.createList({ name: "Stage", takesFrom: [field] })).id;
    expect(await redeem(enter(stage, 1, { at: noon + 5 }))).toBe("admitted");
    expect(await redeem(enter(field, 1, { at: noon }))).toBe("admitted");
    expect(await history(1)).toEqual([
      [stage, "entry", false],
      [field, "entry", false],
      [field, "exit", true],
    ]);
    const { at } = await checkin.db.one<{ at: number }>(sql`select scan.at from scan where scan.type = 'exit'`);
    expect(at).toBe(noon + 5);
    await expectTrueCounts();
  });

  it("[C10.6] are left by an entry that comes late also where the newer one was left since", async () => {
    const field = (await checkin.createList({ name: "Field", hardLimit: 5 })).id;
    const stage = (await checkin.createList({ name: "Stage", takesFrom: [field] })).id;
    expect(await redeem(enter(stage, 1, { at: noon + 5 }))).toBe("admitted");
    expect(await redeem(enter(stage, 1, { ...exit, at: noon + 10 }))).toBe("admitted");
    expect(await redeem(enter(field, 1, { at: noon }))).toBe("admitted");
    expect(await inside(field)).toBe(0);
    await expectTrueCounts();
  });

  it("[C10.7] hold each visitor once, and no more than their limits, while crowds change sides on two replicas", async () => {
    const again = { allowMultipleEntries: true };
    const left = (await checkin.createList({ ...again, name: "Left", hardLimit: 40 })).id;
    const right = (await checkin.createList({ ...again, name: "Right", hardLimit: 40, takesFrom: [left] })).id;
    await update(left, { takesFrom: [right] });
    const dice = rollFrom(11);
    for (let round = 1; round <= 6; round += 1) {
      const words = await atOnce(
        Array.from({ length: 100 }, () =>
          enter(dice.pick([left, right]), 1 + dice.below(60), { at: noon + round * 1000 + dice.below(900) }),
        ),
      );
      expect(words.filter((word) => word !== "admitted" && word !== "rules")).toEqual([]);
      expect(await inside(left)).toBeLessThanOrEqual(40);
      expect(await inside(right)).toBeLessThanOrEqual(40);
      await expectTrueCounts();
    }
    const twice = await checkin.db.many(sql`
      select presence.position
        from presence
       where presence.last_type = 'entry'
       group by presence.position
      having count(*) > 1`);
    expect(twice).toEqual([]);
  });
});

it("[C10.1] limits and lists that do not fit are named", async () => {
  const { id } = await checkin.createList();
  const errors = (fields: Partial<CheckinListFields>) =>
    update(id, fields).then(
      () => ({}),
      (error: unknown) => (error as { fields: object }).fields,
    );
  expect(await errors({ softLimit: 5, hardLimit: 4 })).toEqual({
    non_field_errors: ["The soft limit may not be above the hard limit."],
  });
  expect(await errors({ takesFrom: [id, 999] })).toEqual({
    takes_from: ["A list cannot take visitors from itself.", 'Invalid id "999": this event has no such check-in list.'],
  });
  expect(await errors({ takesFrom: [999] })).toEqual({
    takes_from: ['Invalid id "999": this event has no such check-in list.'],
  });
});
