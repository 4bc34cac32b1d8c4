import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, it, vi } from "vitest";
import { apiKey, eventPath, groundwork, listData, ofEvent, orderData, positionData } from "../e2e/sample-records.ts";
import { startTestPlatform } from "../e2e/test-platform.ts";

afterEach(() => vi.restoreAllMocks());

it("[C7.12] a process whose clock is ten minutes ahead lets no list out early, and stores no scan in the future", async () => {
  const realNow = Date.now.bind(Date);
  const minuteMs = 60_000;
  vi.spyOn(Date, "now").mockImplementation(() => realNow() + 10 * minuteMs);
  const platform = await startTestPlatform({ kind: "inprocess" });
  try {
    const secret = "a-secret-of-wrong-clocks";
    platform.keepOutOfLogs(secret);
    const key = `Token ${apiKey}`;
    const exitAt = (inMs: number) => new Date(realNow() + inMs).toISOString();
    const [later, soon] = [exitAt(5 * minuteMs), exitAt(3000)];
    const answer = await platform.import([
      ...groundwork(),
      ofEvent("order", orderData({ positions: [positionData({ secret })] })),
      ofEvent("checkin_list", listData({ id: 1, exit_all_at: later })),
      ofEvent("checkin_list", listData({ id: 2, exit_all_at: soon })),
    ]);
    expect(answer).toMatchObject({ rejected: 0, settled: true });
    const list = async (id: number) => {
      const { body } = await platform.request("GET", `${eventPath}/checkinlists/${id}/`, { as: key });
      return Date.parse(body.exit_all_at);
    };
    const scanned = await platform.request("POST", `${eventPath}/checkinlists/1/positions/${secret}/redeem/`, {
      as: key,
      body: {},
    });
    expect(scanned.status).toBe(201);
    const [checkin] = scanned.body.position.checkins;
    expect(Math.abs(Date.parse(checkin.datetime) - realNow())).toBeLessThan(minuteMs);
    // The other list is due, so the lists have been looked at.
    while ((await list(2)) === Date.parse(soon)) await sleep(100);
    expect(realNow()).toBeGreaterThan(Date.parse(soon));
    expect(await list(1)).toBe(Date.parse(later));
    const status = await platform.request("GET", `${eventPath}/checkinlists/1/status/`, { as: key });
    expect(status.body.inside_count).toBe(1);
  } finally {
    await platform.stop();
  }
});
