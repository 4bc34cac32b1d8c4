import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Decided, OfflineScanner } from "./offline-scanner.ts";
import { listData, orderData, positionData, samplesOf } from "./sample-records.ts";
import { type Answer, startTestPlatform, type TestPlatform } from "./test-platform.ts";

const { eventPath, groundwork, ofEvent, apiKey } = samplesOf("offline");
const organizer = "/api/v1/organizers/offline";
const list = 4;

const orderOf = (number: number, rest: object = {}) =>
  ofEvent(
    "order",
    orderData({
      code: `DAY${number}`,
      datetime: new Date(Date.UTC(2027, 0, 1) + number * 1000).toISOString(),
      positions: [positionData({ id: number, positionid: 1, secret: `day-${number}` })],
      ...rest,
    }),
  );

describe("a day without a network", () => {
  let platform: TestPlatform;
  const tokens: string[] = [];

  beforeAll(async () => {
    platform = await startTestPlatform();
    const orders = Array.from({ length: 120 }, (_, index) => orderOf(index + 1));
    const taken = await platform.import([
      ...groundwork(),
      ofEvent("checkin_list", listData({ id: list, name: "Gate", all_products: true, allow_entry_after_exit: true })),
      ...orders,
    ]);
    expect(taken).toMatchObject({ rejected: 0, settled: true });
    for (const name of ["North", "South"]) {
      const created = await platform.request("POST", `${organizer}/devices/`, {
        as: `Token ${platform.operatorKey}`,
        body: { name, security_profile: "pretixscan", all_events: true },
      });
      const setUp = await platform.request("POST", "/api/v1/device/initialize", {
        body: {
          token: created.body.initialization_token,
          ...{ hardware_brand: "A", hardware_model: "B", os_name: "Android", os_version: "13" },
          ...{ software_brand: "pretixSCAN Android", software_version: "2.3.1" },
        },
      });
      tokens.push(`Device ${setUp.body.api_token}`);
      platform.keepOutOfLogs(created.body.token, created.body.initialization_token, setUp.body.api_token);
    }
  });
  afterAll(() => platform.stop());

  /** Every so many requests an answer is lost, though the request has arrived. */
  const network = (as: string, { loses }: { readonly loses: number }) => {
    let sent = 0;
    return async (method: string, path: string, options: object = {}): Promise<Answer> => {
      sent += 1;
      const answer = await platform.request(method, path, { as, ...options });
      if (sent % loses === 0) throw new Error("the answer is lost");
      return answer;
    };
  };
  const untilDone = async (work: () => Promise<void>) => {
    for (let tried = 0; ; tried += 1) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof Error && error.message === "the answer is lost") || tried > 200) throw error;
      }
    }
  };
  const history = async () => {
    const scans: { position: number; type: string; datetime: string; successful: boolean }[] = [];
    for (let page = 1; ; page += 1) {
      const { body } = await platform.request("GET", `${eventPath}/checkins/?list=${list}&ordering=id&page=${page}`, {
        as: `Token ${apiKey}`,
      });
      scans.push(...body.results);
      if (body.next === null) return scans;
    }
  };
  const inside = async () =>
    (await platform.request("GET", `${eventPath}/checkinlists/${list}/status/`, { as: `Token ${apiKey}` })).body
      .inside_count;

  it("[E4.4, E4.5, E4.6, E6.4] ends with exactly the scans that were made, whatever answers were lost", async () => {
    const [north = "", south = ""] = tokens;
    const place = { organizer, event: eventPath, list };
    const first = new OfflineScanner(network(north, { loses: 23 }), place);
    const second = new OfflineScanner(network(south, { loses: 17 }), place);
    await first.sync({ interruptAfter: 1 }).catch(() => {});
    expect(first.orders).toBeLessThan(120);
    await platform.import([orderOf(121)]);
    await untilDone(() => first.sync());
    await untilDone(() => second.sync());
    expect([first.orders, second.orders]).toEqual([121, 121]);

    const noon = Date.UTC(2027, 11, 27, 12);
    const made: Decided[] = [];
    const scan = (scanner: OfflineScanner, number: number, type: "entry" | "exit", seconds: number) => {
      const decided = scanner.scan(`day-${number}`, type, new Date(noon + seconds * 1000));
      if (decided.admitted) made.push(decided);
      return decided.admitted;
    };
    for (let number = 1; number <= 40; number += 1) expect(scan(first, number, "entry", number)).toBe(true);
    expect(scan(first, 1, "entry", 50)).toBe(false);
    expect(scan(first, 999, "entry", 50)).toBe(false);
    // In, out and in again within one second: their order decides.
    expect([scan(first, 50, "entry", 60), scan(first, 50, "exit", 60), scan(first, 50, "entry", 60)]).toEqual([
      true,
      true,
      true,
    ]);
    for (let number = 41; number <= 49; number += 1) expect(scan(second, number, "entry", number)).toBe(true);
    // Neither gate can know of the other: the ticket is admitted at both.
    expect(scan(second, 1, "entry", 70)).toBe(true);

    while (first.waiting > 0) await untilDone(() => first.upload());
    while (second.waiting > 0) await untilDone(() => second.upload());
    const stored = await history();
    const named = (scans: readonly { type: string; datetime: string }[], id: (each: never) => number) =>
      scans.map((each) => `${id(each as never)} ${each.type} ${each.datetime}`).sort();
    expect(named(stored, (each: { position: number }) => each.position)).toEqual(
      named(made, ({ secret }: { secret: string }) => Number(secret.slice("day-".length))),
    );
    expect(stored.every(({ successful }) => successful)).toBe(true);
    expect(await inside()).toBe(50);

    // The next sync brings what the other gate has scanned.
    await untilDone(() => second.sync());
    expect(scan(second, 2, "entry", 90)).toBe(false);
    await untilDone(() => first.sync());
    expect([scan(first, 41, "entry", 91), scan(first, 41, "exit", 92)]).toEqual([false, true]);
  });

  it("[E3.9] a device that is revoked meanwhile is told so, and its queue with it", async () => {
    const [, south = ""] = tokens;
    const devices = await platform.request("GET", `${organizer}/devices/`, { as: `Token ${platform.operatorKey}` });
    const { device_id } = devices.body.results.find(({ name }: { name: string }) => name === "South");
    await platform.request("POST", `${organizer}/devices/${device_id}/revoke/`, {
      as: `Token ${platform.operatorKey}`,
    });
    const scanner = new OfflineScanner(network(south, { loses: 1000 }), { organizer, event: eventPath, list });
    await expect(scanner.sync()).rejects.toThrow("answered 401");
    const answer = await platform.request("GET", "/api/v1/device/info", { as: south });
    expect(answer.body).toEqual({ detail: "Device access has been revoked." });
  });
});
