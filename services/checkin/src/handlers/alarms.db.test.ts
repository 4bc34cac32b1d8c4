import { toTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import type { EventKey } from "../store/keys.ts";
import { checkinDatabase } from "../testing/database.ts";
import { eventFact, noon, place } from "../testing/facts.ts";
import { readAlarmFacts } from "../testing/past-scans.ts";
import { startCheckin } from "../testing/start-checkin.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
const other = { ...place, event: "other" };

beforeEach(async () => {
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact(), eventFact(other)]);
});

/** Stores an alarm; returns its id. */
async function raise(
  kind: string,
  gate: number,
  { event = place.event, ended = false }: { event?: string; ended?: boolean } = {},
): Promise<number> {
  const { id } = await db.one<{ id: number }>(sql`
    insert into alarm (organizer, event, kind, gate, since_at, measured, usual, ended_at)
    values (${place.organizer}, ${event}, ${kind}, ${gate}, ${toTimestamp(noon)}, 1.5, 12,
            case when ${ended} then now() end)
    returning id`);
  return id;
}

const list = async (filter: object = {}, at: EventKey = place) =>
  (await checkin.alarms.listAlarms({ ...at, ...filter, page: 1, pageSize: 50 })).alarms.map(({ id }) => id);

describe("alarms of an event", () => {
  it("[B4.9] are listed, the newest first, and filtered", async () => {
    const first = await raise("gate_silent", 1, { ended: true });
    const second = await raise("gate_silent", 1);
    const third = await raise("rate_fell", 2);
    const foreign = await raise("gate_silent", 1, other);
    expect(await list()).toEqual([third, second, first]);
    expect(await list({ open: true })).toEqual([third, second]);
    expect(await list({ open: false })).toEqual([first]);
    expect(await list({ kind: "rate_fell" })).toEqual([third]);
    expect(await list({ gate: 1 })).toEqual([second, first]);
    expect(await list({}, other)).toEqual([foreign]);
    const page = await checkin.alarms.listAlarms({ ...place, page: 2, pageSize: 2 });
    expect(page).toMatchObject({ count: 3, page: 2, alarms: [{ id: first, kind: "gate_silent", gate: 1 }] });
    expect(page.alarms[0]).toMatchObject({ sinceAt: noon, measured: 1.5, usual: 12, endedAt: expect.any(Number) });
    await expect(list({}, { ...place, event: "nowhere" })).rejects.toMatchObject({
      kind: "not_found",
    });
  });

  it("[B4.10] are acknowledged by who comes first, and once, with a fact", async () => {
    const id = await raise("gate_silent", 1);
    const answers = await Promise.all(
      ["Ann", "Ben", "Cem", "Dia"].map((by) => checkin.alarms.acknowledgeAlarm({ ...place, id, by })),
    );
    const [first] = answers;
    expect(["Ann", "Ben", "Cem", "Dia"]).toContain(first?.alarm?.acknowledgedBy);
    for (const answer of answers) expect(answer).toEqual(first);
    const facts = await readAlarmFacts(db);
    expect(facts).toMatchObject([{ ...place, id, acknowledgedAt: first?.alarm?.acknowledgedAt }]);
    expect(JSON.stringify(facts)).not.toContain(first?.alarm?.acknowledgedBy);
  });

  it("[B4.10] are acknowledged while they end, and none of both is lost", async () => {
    const id = await raise("gate_silent", 1);
    await Promise.all([checkin.runJob("raise-alarms"), checkin.alarms.acknowledgeAlarm({ ...place, id, by: "Ann" })]);
    const [alarm] = (await checkin.alarms.listAlarms({ ...place, page: 1, pageSize: 50 })).alarms;
    expect(alarm).toMatchObject({ id, acknowledgedBy: "Ann", endedAt: expect.any(Number) });
    const facts = await readAlarmFacts(db);
    expect(facts).toHaveLength(2);
    expect(facts[1]).toMatchObject({ endedAt: expect.any(Number), acknowledgedAt: expect.any(Number) });
  });

  it("[B4.11] are those of one event: an id of another does not exist", async () => {
    const id = await raise("gate_silent", 1, other);
    for (const at of [place, { organizer: "somebody", event: "other" }])
      await expect(checkin.alarms.acknowledgeAlarm({ ...at, id, by: "Ann" })).rejects.toMatchObject({
        code: "alarm_not_found",
      });
    expect(await readAlarmFacts(db)).toEqual([]);
  });

  it("[B4.9] show in the live data while they hold, the unacknowledged ones first, at most 100", async () => {
    const seen = await raise("gate_silent", 1000);
    await raise("gate_silent", 1001, { ended: true });
    await raise("gate_silent", 1002, other);
    await checkin.alarms.acknowledgeAlarm({ ...place, id: seen, by: "Ann" });
    const open = [await raise("gate_silent", 1), await raise("gate_silent", 2)];
    const shown = async () => (await checkin.live.readLive(place, {})).alarms;
    await expect
      .poll(shown)
      .toMatchObject([
        ...open.toReversed().map((id) => ({ id })),
        { id: seen, acknowledgedBy: "Ann", kind: "gate_silent", gate: 1000 },
      ]);
    for (let gate = 3; gate <= 110; gate += 1) await raise("gate_silent", gate);
    const acknowledged = async () => (await shown()).map(({ acknowledgedAt }) => acknowledgedAt);
    await expect.poll(acknowledged).toEqual(Array(100).fill(undefined));
  });
});
