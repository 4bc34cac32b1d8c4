import type { ReadLiveResponse } from "@tessera/protos/gen/ticketing/checkin/v1/live";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { checkinDatabase } from "../../testing/database.ts";
import { eventFact, itemFact, minute, place, positionFact } from "../../testing/facts.ts";
import { scan, startCheckin } from "../../testing/start-checkin.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
const tickets = 12;
let list: number;
let other: number;

beforeEach(async () => {
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact(), { ...eventFact(), event: "elsewhere" }]);
  await checkin.deliver(topics.itemChanged, [itemFact(10)]);
  await checkin.deliver(
    topics.positionChanged,
    Array.from({ length: tickets }, (_, index) => positionFact(index + 1)),
  );
  list = (await checkin.createList({ name: "Main" })).id;
  other = (await checkin.createList({ name: "Backstage", allowEntryAfterExit: false })).id;
});

/** Scans come at the time of the database. */
const now = () => Date.now() * 1000;
const read = () => checkin.live.readLive(place, {});
const exit = { type: ScanType.EXIT } as const;
const at = (gate: number, deviceId: number, ago = 0) => ({ gate, deviceId, at: now() - ago * 1_000_000 });

const ofGate = ({ lastMinute }: ReadLiveResponse, gate: number) => lastMinute.filter((count) => count.gate === gate);

describe("live", () => {
  it("[B1.4] counts the doubles, and those that are explained", async () => {
    const offline = (deviceId: number, ago: number) => ({
      deviceId,
      gate: deviceId,
      at: now() - ago * minute,
      force: true,
    });
    await checkin.redeem(scan(list, "secret1", offline(7, 50)));
    await checkin.redeem(scan(list, "secret1", offline(8, 40)));
    await expect.poll(read).toMatchObject({ doubles: { count: 1, explained: 0 } });
  });

  it("[B1.1] shows the counts of each list, as its status has them", async () => {
    await checkin.redeemAll([scan(list, "secret1", at(1, 7)), scan(list, "secret2", at(1, 7)), scan(other, "secret1")]);
    await checkin.redeem(scan(list, "secret2", { ...at(1, 7), ...exit }));
    await expect.poll(read).toMatchObject({
      lists: [
        { id: other, name: "Backstage", positions: tickets, entered: 1, inside: 1 },
        { id: list, name: "Main", positions: tickets, entered: 2, inside: 1 },
      ],
    });
    const { positionCount, checkinCount, insideCount } = await checkin.lists.getCheckinListStatus({
      ...{ ...place, id: list },
    });
    expect([positionCount, checkinCount, insideCount]).toEqual([tickets, 2, 1]);
  });

  it("[B1.2, B1.9] counts the scans of the last minute by gate, device, and reason of refusal", async () => {
    await checkin.redeemAll([
      scan(list, "secret1", at(11, 7)),
      scan(list, "secret2", at(11, 8)),
      scan(list, "x", at(11, 8)),
    ]);
    await checkin.redeem(scan(list, "secret1", at(12, 9)));
    await checkin.redeem(scan(list, "secret2", { ...at(11, 8), ...exit }));
    // Made before the last minute: it shows in the hour alone.
    await checkin.redeem(scan(list, "secret3", at(11, 8, 300)));
    const refused = (reason: string) => [{ reason, scans: 1 }];
    const counted = async () => {
      const live = await read();
      expect(ofGate(live, 11).toSorted((one, next) => (one.device ?? 0) - (next.device ?? 0))).toEqual([
        { gate: 11, device: 7, entries: 1, exits: 0, refused: [] },
        { gate: 11, device: 8, entries: 1, exits: 1, refused: refused("invalid") },
      ]);
      expect(ofGate(live, 12)).toEqual([
        { gate: 12, device: 9, entries: 0, exits: 0, refused: refused("already_redeemed") },
      ]);
      expect(JSON.stringify(live)).not.toMatch(/secret|Ada/);
      expect(live.refusals).toMatchObject([
        { list, gate: 12, device: 9, reason: "already_redeemed" },
        { list, gate: 11, device: 8, reason: "invalid" },
      ]);
    };
    await vi.waitFor(counted, { timeout: 100_000 });
    const { minutes } = await checkin.live.readLastHour(place, {});
    const sum = (gate: number) =>
      minutes
        .filter((each) => each.gate === gate)
        .reduce(
          ([entries = 0, exits = 0, refused = 0], each) => [
            entries + each.entries,
            exits + each.exits,
            refused + each.refused,
          ],
          [0, 0, 0] as readonly number[],
        );
    expect(sum(11)).toEqual([3, 1, 1]);
    expect(sum(12)).toEqual([0, 0, 1]);
  });

  it("[B1.3] names the newest scan of each device", async () => {
    const first = now() - 10 * 1_000_000;
    await checkin.redeem(scan(list, "secret1", { gate: 1, deviceId: 17, at: first }));
    await checkin.redeem(scan(list, "secret2", { gate: 2, deviceId: 17, at: first + 5_000_000 }));
    const newest = { device: 17, gate: 2, lastScanAt: first + 5_000_000 };
    await expect.poll(read).toMatchObject({ devices: expect.arrayContaining([newest]) });
  });

  it("[B1.10] shows all persons inside of a list with a limit", async () => {
    const { id } = await checkin.createList({ name: "Zone", softLimit: 2, hardLimit: 3 });
    await checkin.redeemAll([1, 2, 3].map((ticket) => scan(id, `secret${ticket}`, at(1, 7))));
    const reachedAt = expect.any(Number);
    await expect.poll(read).toMatchObject({
      lists: expect.arrayContaining([
        expect.objectContaining({ id, inside: 3, limit: { persons: 3, soft: 2, hard: 3, reachedAt } }),
        expect.objectContaining({ id: list, limit: undefined }),
      ]),
    });
  });

  it("[B1.5] knows nothing of other events, and no event that does not exist", async () => {
    await checkin.redeem(scan(list, "secret1", at(1, 7)));
    expect(await checkin.live.readLive({ ...place, event: "elsewhere" }, {})).toMatchObject({
      lists: [],
      lastMinute: [],
      devices: [],
    });
    await expect(checkin.live.readLive({ ...place, event: "nowhere" }, {})).rejects.toMatchObject({
      kind: "not_found",
    });
  });

  it("[B1.6] reads an event once for all who ask in the same second", async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, read));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  });
});
