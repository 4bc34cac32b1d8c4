import { setTimeout as sleep } from "node:timers/promises";
import { runJobs } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { ScanDecided } from "@tessera/protos/gen/ticketing/checkin/v1/facts";
import type { CheckinListFields } from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import { topics } from "@tessera/protos/topics";
import { describe, expect, it } from "vitest";
import { automaticExits, day, due, hour, run } from "../testing/exit-lists.ts";
import { minute, order, place, positionFact } from "../testing/facts.ts";
import { scan } from "../testing/start-checkin.ts";

const exiting = automaticExits();
const { dueList, enter, exitAllAt, exits, expectTrueCounts, handle, leave, replica, sell } = exiting;
const insideCount = async (id: number) =>
  (await exiting.checkin.lists.getCheckinListStatus({ ...place, id })).insideCount;

/** A replica that believes to hold the lock. */
const rival = () =>
  replica(
    {
      async dedicated() {
        const connection = await exiting.db.dedicated();
        return { ...connection, one: async <Row>() => ({ leads: true }) as Row };
      },
    },
    { storedAtOnce: 3 },
  );

describe("the automatic exit", () => {
  it("[C7.1, C7.5] stores one scan for each ticket that is inside at that instant", async () => {
    const id = await dueList();
    await sell(1, 2, 3);
    await enter(id, 1, due - hour);
    await enter(id, 2, due - hour);
    await leave(id, 2, due - minute);
    await handle();
    expect(await exits()).toEqual([[1, due]]);
    const { position } = await exiting.checkin.positions.getPosition({
      ...place,
      list: id,
      id: 1,
      ignoreStatus: false,
    });
    expect(position?.checkins[0]).toMatchObject({ type: "SCAN_TYPE_EXIT", at: due, autoCheckedIn: true });
    expect(position?.checkins[0]?.gate).toBeUndefined();
    expect(position?.checkins[0]?.device).toBeUndefined();
    expect(position?.checkins[0]?.deviceId).toBeUndefined();
    expect(await exitAllAt(id)).toBe(due + day);
    await handle();
    expect(await exits()).toHaveLength(1);
  });

  it("[C7.1] follows within 15 seconds by itself", async () => {
    const id = await dueList();
    await sell(1);
    await enter(id, 1, due - hour);
    const log = createLog({ service: "checkin", destination: { write: () => {} } });
    const jobs = runJobs([replica()], log);
    await expect.poll(exits).toEqual([[1, due]]);
    await jobs.stop();
    expect(replica().everyMs).toBeLessThan(15_000);
  });

  it("[C7.1] does not come early", async () => {
    const id = await dueList();
    await sell(1);
    await enter(id, 1, due - hour);
    exiting.checkin.clock.at = due - 1;
    await handle();
    expect(await exits()).toEqual([]);
    exiting.checkin.clock.at = due;
    await handle();
    expect(await exits()).toEqual([[1, due]]);
  });

  it("[C7.2] counts and is published like any other scan", async () => {
    const id = await dueList();
    await sell(1, 2);
    await enter(id, 1, due - hour);
    await enter(id, 2, due - hour);
    expect(await insideCount(id)).toBe(2);
    await exiting.db.run(sql`delete from outbox`);
    await handle();
    expect(await insideCount(id)).toBe(0);
    await expectTrueCounts();
    const facts = await exiting.db.many<{ topic: string; payload: Buffer }>(sql`
      select outbox.topic, outbox.payload
        from outbox
       order by outbox.id`);
    expect(facts.map(({ topic }) => topic)).toEqual([topics.scanDecided.name, topics.scanDecided.name]);
    const published = facts.map(({ payload }) => ScanDecided.decode(payload));
    expect(published).toMatchObject([
      { ...place, list: id, position: 1, type: "SCAN_TYPE_EXIT", successful: true, at: due },
      { ...place, list: id, position: 2, type: "SCAN_TYPE_EXIT", successful: true, at: due },
    ]);
    const kept = await exiting.db.many<{ id: number }>(
      sql`select scan.id from scan where scan.auto_checked_in order by scan.id`,
    );
    expect(published.map((fact) => fact.scan).sort()).toEqual(kept.map((row) => row.id).sort());
  });

  it("[C7.3] comes whatever the state of the order is", async () => {
    const id = await dueList();
    await sell(1, 2, 3, 4);
    for (const position of [1, 2, 3, 4]) await enter(id, position, due - hour);
    const newer = { revision: 2 };
    await exiting.checkin.deliver(topics.positionChanged, [
      positionFact(1, { order: order({ status: "ORDER_STATUS_CANCELED" }) }, newer),
      positionFact(2, { canceled: true }, newer),
      positionFact(3, { order: order({ status: "ORDER_STATUS_EXPIRED" }) }, newer),
      `${place.organizer}/${place.event}/4`,
    ]);
    await handle();
    expect(await exits()).toEqual([
      [1, due],
      [2, due],
      [3, due],
    ]);
    await expectTrueCounts();
  });

  it("[C7.3] ignores tickets that are no longer on the list", async () => {
    const limited = await dueList({ allProducts: false, limitProducts: [10] });
    const dated = await dueList({ subevent: 1 });
    await exiting.checkin.deliver(topics.positionChanged, [
      positionFact(1, { subevent: 1 }),
      positionFact(2, { subevent: 1 }),
      positionFact(3, { subevent: 1 }),
    ]);
    for (const position of [1, 2, 3]) for (const list of [limited, dated]) await enter(list, position, due - hour);
    await exiting.checkin.deliver(topics.positionChanged, [
      positionFact(2, { subevent: 2 }, { revision: 2 }),
      positionFact(3, { subevent: 1, item: 11 }, { revision: 2 }),
    ]);
    await handle();
    const left = await exiting.db.many<{ list: number; position: number }>(sql`
      select scan.list, scan.position from scan where scan.auto_checked_in order by scan.list, scan.position`);
    expect(left).toEqual([
      { list: limited, position: 1 },
      { list: limited, position: 2 },
      { list: dated, position: 1 },
      { list: dated, position: 3 },
    ]);
    await expectTrueCounts();
  });

  it("[C7.4] undoes no entry of the same instant or later", async () => {
    const id = await dueList();
    await sell(1, 2, 3, 4, 5);
    await enter(id, 1, due);
    for (const position of [2, 3, 4, 5]) await enter(id, position, due - hour);
    await enter(id, 2, due + 1);
    await leave(id, 3, due + 1);
    await leave(id, 4, due - 1);
    await enter(id, 4, due + 1);
    // Among equal instants the last to arrive counts, and the exit arrives last.
    await enter(id, 5, due);
    await handle();
    expect(await exits()).toEqual([
      [2, due],
      [3, due],
      [5, due],
    ]);
    expect(await insideCount(id)).toBe(3);
    await enter(id, 5, due);
    expect(await insideCount(id)).toBe(4);
    await expectTrueCounts();
  });

  it("[C7.6] comes once for an instant, though the instant is set again", async () => {
    const id = await dueList();
    await sell(1, 2);
    await enter(id, 1, due - hour);
    await handle();
    await enter(id, 2, due - hour);
    for (const position of [1, 2]) await enter(id, position, due);
    const fields = { ...(await exiting.checkin.lists.getCheckinList({ ...place, id })).list?.fields, exitAllAt: due };
    await exiting.checkin.lists.updateCheckinList({
      ...place,
      id,
      fields: fields as CheckinListFields,
      updateMask: ["exit_all_at"],
    });
    await handle();
    expect(await exits()).toEqual([
      [1, due],
      [2, due],
    ]);
    await expectTrueCounts();
  });

  it("[C7.6] comes once, wherever the process is killed and another one goes on", async () => {
    const id = await dueList();
    const tickets = [1, 2, 3, 4, 5, 6, 7];
    await sell(...tickets);
    for (const position of tickets) await enter(id, position, due - hour);
    let isOver = false;
    for (let statements = 1; !isOver; statements += 1) {
      expect(statements).toBeLessThan(50);
      let left = statements;
      // Its last statement commits, but the process dies before the answer.
      const untilKilled =
        <A extends unknown[], R>(statement: (...sent: A) => Promise<R>) =>
        async (...sent: A): Promise<R> => {
          left -= 1;
          if (left >= 0) {
            const answer = await statement(...sent);
            if (left > 0) return answer;
          }
          throw new Error("killed");
        };
      const mortal = replica({ many: untilKilled(exiting.db.many) as Db["many"], run: untilKilled(exiting.db.run) });
      const end = await run(mortal).catch((error: Error) => error.message);
      expect(["killed", undefined]).toContain(end);
      isOver = end === undefined;
      expect(new Set((await exits()).map(([position]) => position)).size).toBe((await exits()).length);
      await expectTrueCounts();
    }
    expect(await exits()).toEqual(tickets.map((position) => [position, due]));
    expect(await exitAllAt(id)).toBe(due + day);
    const facts = await exiting.db.many(
      sql`select outbox.fact_id from outbox where outbox.topic = ${topics.scanDecided.name}`,
    );
    expect(facts).toHaveLength(2 * tickets.length);
  });

  it("[C7.6] comes once, though several processes handle it while the gates scan", async () => {
    const id = await dueList();
    const tickets = Array.from({ length: 60 }, (_, index) => index + 1);
    await sell(...tickets);
    await exiting.checkin.redeemAll(tickets.map((position) => scan(id, `secret${position}`, { at: due - hour })));
    const scanSome = async (at: number) => {
      for (const position of tickets) {
        const type = position % 3 === 0 ? "SCAN_TYPE_EXIT" : "SCAN_TYPE_ENTRY";
        await exiting.checkin.redeem(scan(id, `secret${position}`, { at, type }));
      }
    };
    await Promise.all([run(rival()), run(rival()), run(rival()), scanSome(due), scanSome(due + minute)]);
    expect(await exits()).toEqual(tickets.map((position) => [position, due]));
    expect(await insideCount(id)).toBe(40);
    await expectTrueCounts();
    const wrong = await exiting.db.many(sql`
      select presence.position
        from presence
       where presence.version <> (select count(*) from scan where scan.position = presence.position and scan.successful)`);
    expect(wrong).toEqual([]);
  });

  it("[C7.1] comes to no ticket that was deleted with its scans and created again meanwhile", async () => {
    const id = await dueList();
    await sell(1, 2);
    for (const position of [1, 2]) await enter(id, position, due - hour);
    let looks = 0;
    const changing = replica({
      async many<Row>(statement: Parameters<Db["many"]>[0]) {
        const rows = await exiting.db.many<Row>(statement);
        // The first two reads look for lists, the next for tickets.
        looks += 1;
        if (looks === 3) {
          await exiting.checkin.deliver(topics.positionChanged, [
            `${place.organizer}/${place.event}/1`,
            positionFact(1),
          ]);
        }
        return rows;
      },
    });
    await run(changing);
    expect(await exits()).toEqual([[2, due]]);
    const presences = await exiting.db.many<{ position: number }>(sql`select presence.position from presence`);
    expect(presences).toEqual([{ position: 2 }]);
    await expectTrueCounts();
  });

  it("skips a ticket that another transaction locks, and retries it", async () => {
    const id = await dueList();
    await sell(1, 2, 3, 4, 5);
    for (const position of [1, 2, 3, 4, 5]) await enter(id, position, due - hour);
    const handling = await exiting.db.transaction(async (tx) => {
      await tx.run(sql`select position.id from position where position.id in (2, 3) for update`);
      const job = run(replica());
      while ((await exits()).length < 3) await sleep(5);
      expect(await exits()).toEqual([1, 4, 5].map((position) => [position, due]));
      expect(await exitAllAt(id)).toBe(due);
      return { job };
    });
    await handling.job;
    // The retry may have given up until the next run.
    await handle();
    expect(await exits()).toEqual([1, 2, 3, 4, 5].map((position) => [position, due]));
    expect(await exitAllAt(id)).toBe(due + day);
  });

  it("delays no list while another one is stuck", async () => {
    const stuck = await dueList();
    const other = await dueList();
    await sell(1, 2);
    await enter(stuck, 1, due - hour);
    await enter(other, 2, due - hour);
    const handling = await exiting.db.transaction(async (tx) => {
      await tx.run(sql`select position.id from position where position.id = 1 for update`);
      const job = run(replica());
      while ((await exitAllAt(other)) === due) await sleep(5);
      expect(await exits()).toEqual([[2, due]]);
      return { job };
    });
    await handling.job;
    // The retry may have given up until the next run.
    await handle();
    expect(await exits()).toEqual([
      [1, due],
      [2, due],
    ]);
  });
});
