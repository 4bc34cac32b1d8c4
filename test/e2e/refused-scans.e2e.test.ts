import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kindOverSockets } from "./run-platform.ts";
import { listData, orderData, positionData, samplesOf } from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";

const { apiKey, deviceKey, eventPath, groundwork, ofEvent } = samplesOf("refusers");
describe("refused scans", () => {
  let platform: TestPlatform;
  const secret = "a-secret-of-refused-scans";
  const key = `Token ${apiKey}`;
  const scanner = `Device ${deviceKey}`;

  beforeAll(async () => {
    platform = await startTestPlatform({ kind: kindOverSockets });
    platform.keepOutOfLogs(secret);
    const order = orderData({ positions: [positionData({ secret })] });
    const answer = await platform.import([
      ...groundwork(),
      ofEvent("order", order),
      ofEvent("checkin_list", listData()),
    ]);
    expect(answer).toMatchObject({ rejected: 0, settled: true });
  });
  afterAll(() => platform.stop());

  const get = (path: string, as = key) => platform.request("GET", `${eventPath}${path}`, { as });
  const tell = (body: object, headers: Record<string, string> = {}) =>
    platform.request("POST", `${eventPath}/checkinlists/1/failed_checkins/`, { as: scanner, body, headers });

  it("[C6.1, C6.3, C6.13, C6.20] are stored once for a device, and shown in the history", async () => {
    const refusal = {
      error_reason: "unpaid",
      raw_barcode: secret,
      datetime: "2027-12-27T10:00:00.5Z",
      type: "entry",
      nonce: "offline-1",
      item: 1,
      subevent: null,
    };
    const first = await tell(refusal);
    expect([first.status, first.body]).toMatchObject([
      201,
      { error_reason: "unpaid", raw_barcode: secret, datetime: "2027-12-27T10:00:00.500000Z", position: 1001 },
    ]);
    // At any gateway, with and without its key.
    for (const headers of [{}, {}, { "x-idempotency-key": "upload" }, { "x-idempotency-key": "upload" }]) {
      const again = await tell(refusal, headers);
      expect([again.status, again.body]).toEqual([201, first.body]);
    }
    const unnamed = { error_reason: "already_exchanged", raw_barcode: "binary:AAEC" };
    for (const _ of [1, 2]) expect((await tell(unnamed, { "x-idempotency-key": "once" })).status).toBe(201);

    for (const _ of ["each", "gateway"]) {
      const { status, body } = await get("/checkins/");
      expect(status).toBe(200);
      expect(body).toMatchObject({
        count: 2,
        results: [
          {
            successful: false,
            error_reason: "unpaid",
            error_explanation: null,
            position: 1001,
            datetime: "2027-12-27T10:00:00.500000Z",
            list: 1,
            auto_checked_in: false,
            gate: 7,
            device: 3,
            device_id: 3,
            type: "entry",
          },
          { error_reason: "already_exchanged", position: null },
        ],
      });
      const { id } = body.results[0];
      expect((await get(`/checkins/${id}/`)).body).toEqual(body.results[0]);
    }
  });

  it("[C6.9, C6.21] are stored beside admissions, and change no later decision", async () => {
    const scan = await platform.request("POST", `${eventPath}/checkinlists/1/positions/${secret}/redeem/`, {
      as: scanner,
      body: { nonce: "offline-1" },
    });
    expect(scan.status).toBe(201);
    const counts = { "": 3, "?successful=true": 1, "?error_reason=unpaid": 1, "?type=exit": 0, "?list=1&device=3": 3 };
    for (const [query, count] of Object.entries(counts)) {
      expect([query, (await get(`/checkins/${query}`)).body.count]).toEqual([query, count]);
    }
    const byTime = await get("/checkins/?ordering=-datetime&page_size=1");
    expect(byTime.body).toMatchObject({
      results: [{ error_reason: "unpaid" }],
      next: expect.stringContaining("page=2"),
    });
    expect((await get("/checkinlists/1/status/")).body).toMatchObject({ checkin_count: 1, inside_count: 1 });
  });
});
