import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiKey, eventPath, groundwork, listData, ofEvent, orderData, positionData } from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";

const as = `Token ${apiKey}`;
const inOrder = 100;
const orders = 12;

/** An order of many tickets, whose names are mixed with those of all others. */
function orderOf(number: number, changes: Record<string, unknown> = {}) {
  const positions = Array.from({ length: inOrder }, (_, index) => {
    const id = number * inOrder + index + 1;
    const name = `Walker ${(id * 7919) % 1009}`;
    return positionData({
      id,
      positionid: index + 1,
      attendee_name: name,
      attendee_name_parts: { full_name: name },
      attendee_email: null,
      secret: `walk-${id}`,
      pseudonymization_id: `WALK${id}`,
    });
  });
  return ofEvent("order", orderData({ code: `WALK${number}`, positions, ...changes }));
}

describe("following the pages of many tickets", () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startTestPlatform({ kind: "grpc" });
    platform.keepOutOfLogs(apiKey, "Walker", "zwiebelhuber");
    const sold = Array.from({ length: orders }, (_, number) => orderOf(number + 1));
    const answer = await platform.import([...groundwork(), ofEvent("checkin_list", listData()), ...sold]);
    expect(answer).toMatchObject({ rejected: 0, settled: true });
  });
  afterAll(() => platform?.stop());

  const positions = `${eventPath}/checkinlists/1/positions/`;
  const get = (path: string) => platform.request("GET", path, { as });
  const untilCounted = (count: number) =>
    expect.poll(async () => (await get(positions)).body.count, { timeout: 20_000 }).toBe(count);

  interface Shown {
    readonly id: number;
    readonly order: string;
  }

  /** Goes through the list, and sells and cancels an order in the middle of it. */
  async function walk(query: string, [sold, canceled]: readonly [number, number]): Promise<Shown[]> {
    await untilCounted(orders * inOrder);
    const shown: Shown[] = [];
    let path = `${positions}${query}`;
    for (let pages = 1; ; pages += 1) {
      const { status, body } = await get(path);
      expect(status).toBe(200);
      shown.push(...body.results);
      if (body.next === null) return shown;
      const next = new URL(body.next);
      path = next.pathname + next.search;
      expect(next.search).not.toContain("Walker");
      if (pages !== 9) continue;
      await platform.import([orderOf(sold), orderOf(canceled, { status: "c" })]);
      await untilTurned(sold, canceled);
    }
  }

  const untilTurned = (sold: number, canceled: number) =>
    expect
      .poll(
        async () => {
          const counts = [sold, canceled].map(
            async (number) => (await get(`${positions}?order=WALK${number}`)).body.count,
          );
          return Promise.all(counts);
        },
        { timeout: 20_000 },
      )
      .toEqual([inOrder, 0]);

  it.each([
    ["", 1],
    ["?ordering=-attendee_name", 2],
    ["?ordering=order__code,-positionid", 3],
  ])("[C2.31] shows each ticket once while orders come and go: %s", async (query, round) => {
    const [sold, canceled] = [orders + round, round];
    const shown = await walk(query, [sold, canceled]);
    const ids = shown.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const stayed = Array.from({ length: orders - 1 }, (_, index) => `WALK${canceled + index + 1}`);
    for (const code of stayed)
      expect([code, shown.filter(({ order }) => order === code)]).toHaveProperty("1.length", inOrder);
  });
});
