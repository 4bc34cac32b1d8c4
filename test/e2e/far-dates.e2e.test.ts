import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kindOverSockets } from "./run-platform.ts";
import { eventData, listData, orderData, positionData, samplesOf } from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";

const { apiKey, eventPath, groundwork, ofEvent } = samplesOf("far-dates");
const as = `Token ${apiKey}`;
const first = "0001-01-01T00:00:00Z";
const last = "9999-12-31T23:59:59Z";

/** Programs that have no word for "never" write the first or the last year. */
describe("dates at the ends of the calendar [A9.3]", () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startTestPlatform({ kind: kindOverSockets });
    const ticket = (id: number, data: Record<string, unknown>) =>
      positionData({ id, positionid: id, secret: `far-${id}`, pseudonymization_id: `FAR${id}`, ...data });
    const answer = await platform.import([
      ...groundwork(),
      ofEvent("event", eventData({ live: false, date_from: first, date_to: last, timezone: "Asia/Tokyo" })),
      ofEvent("checkin_list", listData({ exit_all_at: last, allow_multiple_entries: true })),
      ofEvent(
        "order",
        orderData({
          datetime: first,
          positions: [
            ticket(1, { valid_from: first, valid_until: last }),
            ticket(2, { valid_from: last }),
            ticket(3, { valid_until: first }),
          ],
        }),
      ),
    ]);
    expect(answer).toMatchObject({ rejected: 0, settled: true });
  });
  afterAll(() => platform?.stop());

  const get = (path: string) => platform.request("GET", `${eventPath}/${path}`, { as });
  const send = (method: string, path: string, body: unknown) =>
    platform.request(method, `${eventPath}/${path}`, { as, body });
  const scan = (id: number, body: object = {}) => send("POST", `checkinlists/1/positions/far-${id}/redeem/`, body);

  it("come back as they were sent", async () => {
    expect((await get("checkinlists/1/")).body.exit_all_at).toBe(last);
    expect((await get("checkinlists/1/positions/1/")).body).toMatchObject({ valid_from: first, valid_until: last });
    for (const [code, valid_until] of Object.entries({ NEVER: last, LONGAGO: first })) {
      const made = await send("POST", "vouchers/", { code, valid_until });
      expect(made).toMatchObject({ status: 201, body: { valid_until } });
      expect((await get(`vouchers/${made.body.id}/`)).body.valid_until).toBe(valid_until);
    }
    const { body } = await get("vouchers/?active=true");
    expect(body.results.map(({ code }: { code: string }) => code)).toEqual(["NEVER"]);
  });

  it("decide as any other date", async () => {
    expect((await scan(1)).status).toBe(201);
    expect((await scan(2)).body).toMatchObject({ status: "error", reason: "invalid_time" });
    expect((await scan(3)).body).toMatchObject({ status: "error", reason: "invalid_time" });
    const early = await scan(1, { datetime: first });
    const late = await scan(1, { datetime: last });
    expect([early.status, late.status]).toEqual([201, 201]);
    const times = (await get("checkins/?list=1&successful=true&ordering=datetime")).body.results.map(
      ({ datetime }: { datetime: string }) => datetime,
    );
    expect([times.at(0), times.at(-1)]).toEqual([first, last]);
    const { body } = await get(`checkins/?datetime_since=${last}`);
    expect(body).toMatchObject({ count: 1, results: [{ datetime: last }] });
  });

  it("say whether an event is over", async () => {
    const { status, body } = await send("POST", "shredders/export/", { shredders: ["order_emails"] });
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringMatching(/over/)]);
  });
});
