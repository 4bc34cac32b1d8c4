import { Fault } from "@tessera/kit/fault";
import type { Alarm } from "@tessera/protos/gen/ticketing/checkin/v1/alarms";
import { describe, expect, it } from "vitest";
import { appOfEachTest, inEvent, keys, publicBase } from "../../testing/serve-app.ts";

const alarms = `${inEvent}/alarms/`;
const place = { organizer: "bigevents", event: "sampleconf" };
const at = 1_800_000_000_000_000;
const app = appOfEachTest();

const silent: Alarm = { id: 5, kind: "gate_silent", gate: 3, raisedAt: at, sinceAt: at - 61_000_000, usual: 20.12345 };
const seen: Alarm = {
  ...{ id: 4, kind: "clock_off", device: 7, raisedAt: at, endedAt: at + 1, measured: 290.5 },
  ...{ acknowledgedAt: at, acknowledgedBy: "Back office" },
};

const shown = {
  ...{ id: 5, kind: "gate_silent", gate: 3, device_id: null, list: null },
  ...{ raised: "2027-01-15T08:00:00Z", ended: null, acknowledged: null, acknowledged_by: null },
  ...{ since: "2027-01-15T07:58:59Z", measured: null, usual: 20.123 },
};
const shownSeen = {
  ...{ id: 4, kind: "clock_off", gate: null, device_id: 7, list: null },
  ...{ raised: "2027-01-15T08:00:00Z", ended: "2027-01-15T08:00:00.000001Z" },
  ...{ acknowledged: "2027-01-15T08:00:00Z", acknowledged_by: "Back office" },
  ...{ since: null, measured: 290.5, usual: null },
};

describe("alarms/", () => {
  it("[B4.9] lists the alarms of an event", async () => {
    app.peers.when("alarms", "listAlarms", async ({ page }) => ({ alarms: [silent, seen], count: 102, page }));
    const { status, json } = await app.send("GET", alarms, { key: keys.gate });
    expect([status, json]).toEqual([
      200,
      { count: 102, next: `${publicBase}${alarms}?page=2`, previous: null, results: [shown, shownSeen] },
    ]);
  });

  it("[B4.9] filters, and names every wrong filter", async () => {
    app.peers.when("alarms", "listAlarms", async ({ page }) => ({ alarms: [], count: 0, page }));
    await app.send("GET", `${alarms}?open=true&kind=rate_fell&gate=3&page=1&page_size=10`);
    expect(app.peers.requestsOf("listAlarms")).toEqual([
      { ...place, open: true, kind: "rate_fell", gate: 3, page: 1, pageSize: 10 },
    ]);
    const { status, json } = await app.send("GET", `${alarms}?open=perhaps&kind=unheard_of&gate=north`);
    expect(status).toBe(400);
    expect(Object.keys(json as object)).toEqual(["kind", "gate"]);
  });
});

describe("alarms/{id}/acknowledge/", () => {
  it("[B4.10] notes who has seen an alarm", async () => {
    app.peers.when("alarms", "acknowledgeAlarm", async () => ({ alarm: seen }));
    expect(await app.send("POST", `${alarms}4/acknowledge/`)).toMatchObject({ status: 200, json: shownSeen });
    expect(app.peers.requestsOf("acknowledgeAlarm")).toEqual([{ ...place, id: 4, by: expect.stringMatching(/./) }]);
  });

  it("[B4.11] is 404 for what the event does not have", async () => {
    app.peers.when("alarms", "acknowledgeAlarm", () =>
      Promise.reject(new Fault("not_found", "alarm_not_found", "The event has no such alarm.")),
    );
    for (const id of ["4", "none", "99999999999999999999"])
      expect((await app.send("POST", `${alarms}${id}/acknowledge/`)).status).toBe(404);
    expect((await app.send("POST", `${alarms}4/acknowledge/`, { key: keys.otherOrganizer })).status).toBe(403);
  });
});
