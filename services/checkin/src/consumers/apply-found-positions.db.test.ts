import { sql } from "@tessera/kit/pg/sql";
import { PositionChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import { noteDeletedPositions } from "../store/deleted-positions.ts";
import { lockPositions, shareInserts } from "../store/positions.ts";
import { checkinDatabase } from "../testing/database.ts";
import { eventFact, minute, place, positionFact } from "../testing/facts.ts";
import { recount } from "../testing/recount.ts";
import { inWord, scan, startCheckin } from "../testing/start-checkin.ts";
import { untilLockWait } from "../testing/until-lock-wait.ts";
import { applyFoundPositions } from "./position-changed.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
beforeEach(() => checkin.reset());

const now = () => Date.now() * 1000;
const tombstone = (id: number) => `${place.organizer}/${place.event}/${id}`;
const encode = (fact: PositionChanged) => PositionChanged.encode(fact).finish();

const applyFound = (facts: readonly PositionChanged[], askedAt = now()) =>
  applyFoundPositions(checkin.db, { facts: facts.map(encode), askedAt });

const secrets = async () =>
  (
    await checkin.db.many<{ secret: string }>(
      sql`select position.secret from position order by position.organizer, position.event, position.id`,
    )
  ).map(({ secret }) => secret);

const expectTrueCounts = async () => {
  const { counted, recounted } = await recount(checkin.db);
  expect(counted).toEqual(recounted);
};

describe("an answer of boxoffice about a ticket that was deleted meanwhile", () => {
  it("does not bring the ticket back", async () => {
    await checkin.deliver(topics.eventChanged, [eventFact()]);
    const { id: list } = await checkin.createList();
    await checkin.deliver(topics.positionChanged, [positionFact(1)]);
    checkin.sold = async () => {
      await checkin.deliver(topics.positionChanged, [tombstone(1), tombstone(2)]);
      return [positionFact(1, { secret: "new" }, { revision: 2 }), positionFact(2), positionFact(3)].map(encode);
    };
    expect(inWord(await checkin.redeem(scan(list, "new")))).toBe("unknownTicket");
    expect(await secrets()).toEqual(["secret3"]);
    await expectTrueCounts();
  });

  it("does not undo that it came again", async () => {
    const askedAt = now();
    await checkin.deliver(topics.positionChanged, [
      positionFact(1, { secret: "former" }, { revision: 8 }),
      tombstone(1),
      positionFact(1, { secret: "again" }, { revision: 1 }),
    ]);
    await applyFound([positionFact(1, { secret: "former" }, { revision: 9 })], askedAt);
    expect(await secrets()).toEqual(["again"]);
  });

  it("is applied if it was asked for long after the deletion, and not if the clock may be late", async () => {
    await checkin.deliver(topics.positionChanged, [tombstone(1)]);
    await applyFound([positionFact(1)], now() + 4_000_000);
    expect(await secrets()).toEqual([]);
    await applyFound([positionFact(1)], now() + minute);
    expect(await secrets()).toEqual(["secret1"]);
    await expectTrueCounts();
  });

  it("adds no ticket that is deleted while it waits", async () => {
    const { waiting } = await checkin.db.transaction(async (tx) => {
      await shareInserts(tx, [place]);
      await noteDeletedPositions(tx, [{ ...place, id: 1 }]);
      const waiting = applyFound([positionFact(1), positionFact(2)]);
      await untilLockWait(checkin.db);
      return { waiting };
    });
    await waiting;
    expect(await secrets()).toEqual(["secret2"]);
    await expectTrueCounts();
  });

  it("[R3.14] keeps its scan where the deletion of the former ticket arrives after it", async () => {
    await checkin.deliver(topics.eventChanged, [eventFact()]);
    const { id: list } = await checkin.createList();
    await checkin.deliver(topics.positionChanged, [positionFact(1)]);
    const again = positionFact(1, { secret: "new" }, { revision: 10 });
    checkin.sold = async () => [encode(again)];
    expect(inWord(await checkin.redeem(scan(list, "new")))).toBe("admitted");
    await checkin.deliver(topics.positionChanged, [tombstone(1), again], { deletedAt: 9 });
    expect(inWord(await checkin.redeem(scan(list, "new")))).toBe("already_redeemed");
    await expectTrueCounts();
    await checkin.deliver(topics.positionChanged, [tombstone(1)], { deletedAt: 11 });
    expect(await secrets()).toEqual([]);
  });

  it("is noted for minutes, not for ever", async () => {
    await checkin.deliver(topics.positionChanged, [tombstone(1), tombstone(2)]);
    await checkin.db.run(sql`
      update gone_position set gone_at = now() - interval '11 minutes' where gone_position.id = 1`);
    await Promise.all([checkin.runJob("compact-counts"), checkin.runJob("compact-counts")]);
    expect(await checkin.db.many(sql`select gone_position.id from gone_position`)).toEqual([{ id: 2 }]);
  });
});

describe("applying positions that boxoffice returned", () => {
  it("adds tickets once, at the same time as consumers of their topic", async () => {
    const facts = Array.from({ length: 20 }, (_, id) => positionFact(id));
    await Promise.all([
      applyFound(facts),
      checkin.deliver(topics.positionChanged, facts),
      applyFound(facts.toReversed()),
      checkin.deliver(
        topics.positionChanged,
        facts.map((fact) => ({ ...fact, revision: 2 })),
      ),
    ]);
    expect(await secrets()).toHaveLength(20);
    await expectTrueCounts();
  });

  it("waits for no lock if all tickets are here already", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1, {}, { revision: 2 })]);
    await checkin.db.transaction(async (tx) => {
      await shareInserts(tx, [place]);
      await lockPositions(tx, [{ ...place, id: 1 }]);
      await applyFound([positionFact(1, { secret: "older" }), positionFact(1, { secret: "same" }, { revision: 2 })]);
    });
    expect(await secrets()).toEqual(["secret1"]);
  });

  it("waits for no insert of other tickets if it adds no ticket", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1)]);
    await checkin.db.transaction(async (tx) => {
      await shareInserts(tx, [place]);
      await applyFound([positionFact(1, { secret: "new" }, { revision: 2 })]);
    });
    expect(await secrets()).toEqual(["new"]);
  });

  it("waits for no insert of another organizer's tickets", async () => {
    await checkin.db.transaction(async (tx) => {
      await shareInserts(tx, [{ ...place, organizer: "other" }]);
      await applyFound([positionFact(1)]);
    });
    expect(await secrets()).toEqual(["secret1"]);
  });

  it("gives up where others do not let it pass", async () => {
    await checkin.db.transaction(async (tx) => {
      await shareInserts(tx, [place]);
      await expect(applyFound([positionFact(1)])).rejects.toMatchObject({ code: "locked" });
    });
    expect(await secrets()).toEqual([]);
  });

  it("adds nothing in the place of a ticket that goes while it waits for it", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1)]);
    const { waiting } = await checkin.db.transaction(async (tx) => {
      await lockPositions(tx, [{ ...place, id: 1 }]);
      const waiting = applyFound([positionFact(1, {}, { revision: 2 })]);
      await untilLockWait(checkin.db);
      await tx.run(sql`delete from position`);
      return { waiting };
    });
    await waiting;
    expect(await secrets()).toEqual([]);
  });
});
