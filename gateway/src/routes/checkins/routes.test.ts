import { Fault } from "@tessera/kit/fault";
import type { PastScan } from "@tessera/protos/gen/ticketing/checkin/v1/history";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { beforeEach, describe, expect, it } from "vitest";
import { appOfEachTest, devices, inEvent, keys, publicBase } from "../../testing/serve-app.ts";

const history = `${inEvent}/checkins/`;

const app = appOfEachTest();

const admitted: PastScan = {
  checkin: {
    id: 5,
    list: 7,
    at: 1_700_000_000_123_456,
    type: ScanType.EXIT,
    gate: 2,
    device: 9,
    deviceId: 3,
    autoCheckedIn: true,
  },
  createdAt: 1_700_000_001_000_000,
  position: 42,
};
const refused: PastScan = {
  checkin: { id: 6, list: 7, at: 1_700_000_000_000_000, type: ScanType.ENTRY, autoCheckedIn: false },
  createdAt: 1_700_000_001_000_000,
  refused: { reason: "invalid" },
};

const shownAdmitted = {
  id: 5,
  successful: true,
  error_reason: null,
  error_explanation: null,
  position: 42,
  datetime: "2023-11-14T22:13:20.123456Z",
  created: "2023-11-14T22:13:21Z",
  list: 7,
  auto_checked_in: true,
  gate: 2,
  device: 9,
  device_id: 3,
  type: "exit",
};
const shownRefused = {
  ...shownAdmitted,
  id: 6,
  successful: false,
  error_reason: "invalid",
  position: null,
  datetime: "2023-11-14T22:13:20Z",
  auto_checked_in: false,
  gate: null,
  device: null,
  device_id: null,
  type: "entry",
};

describe("GET checkins/", () => {
  beforeEach(() => {
    app.peers.when("scanHistory", "listScans", async ({ page }) => ({
      scans: [admitted, refused],
      count: 102,
      page,
    }));
  });

  it("[C6.20] shows admissions and refusals, without what was scanned", async () => {
    const { status, json } = await app.send("GET", history);
    expect(status).toBe(200);
    expect(json).toEqual({
      count: 102,
      next: `${publicBase}${history}?page=2`,
      previous: null,
      results: [shownAdmitted, shownRefused],
    });
  });

  it("[C6.21, C6.22] passes every filter and the order on as the service reads them", async () => {
    const query = [
      "page=2&page_size=10&ordering=-datetime,nonsense,id,datetime,-id,id",
      "created_since=2026-11-21T12:00:00Z&created_before=2026-11-21T13:00:00Z",
      "datetime_since=2026-11-21T10:00:00.000001Z&datetime_before=2026-11-21T11:00:00Z",
      "successful=FALSE&error_reason=already_exchanged&list=7&type=exit&gate=2&device=9&auto_checked_in=1",
    ];
    expect((await app.send("GET", `${history}?${query.join("&")}`)).status).toBe(200);
    const hour = (number: number) => Date.UTC(2026, 10, 21, number) * 1000;
    expect(app.peers.requestsOf("listScans")).toEqual([
      {
        organizer: "bigevents",
        event: "sampleconf",
        page: 2,
        pageSize: 10,
        ordering: ["-datetime", "id"],
        createdSince: hour(12),
        createdBefore: hour(13),
        atSince: hour(10) + 1,
        atBefore: hour(11),
        successful: false,
        reason: "already_exchanged",
        list: 7,
        type: ScanType.EXIT,
        gate: 2,
        device: 9,
        autoCheckedIn: true,
      },
    ]);
  });

  it("[C6.21] asks for everything where no filter says anything", async () => {
    await app.send("GET", `${history}?successful=maybe&auto_checked_in=yes&type=&list=&error_reason=&unheard_of=1`);
    expect(app.peers.requestsOf("listScans")).toEqual([
      { organizer: "bigevents", event: "sampleconf", page: 1, pageSize: 50, ordering: [], type: ScanType.UNSPECIFIED },
    ]);
  });

  it("[C6.23] names every wrong filter", async () => {
    const filters = {
      ...{ created_since: "x", created_before: "x", datetime_since: "x", datetime_before: "2026-13-01" },
      ...{ error_reason: "exchange", list: "x", type: "both", gate: "west", device: "1.5" },
    };
    const { status, json } = await app.send("GET", `${history}?${new URLSearchParams(filters)}`);
    expect(status).toBe(400);
    expect(Object.keys(json as object).sort()).toEqual(Object.keys(filters).sort());
    expect(app.peers.calls).toEqual([]);
  });

  it("[C6.24] is for those who may read orders, and for no scanning device", async () => {
    for (const [key, status] of [
      [keys.reader, 200],
      [devices.full, 200],
      [keys.gate, 403],
      [devices.scan, 403],
      [devices.kiosk, 403],
    ] as const) {
      expect([key, (await app.send("GET", history, { key })).status]).toEqual([key, status]);
    }
  });
});

describe("GET checkins/{id}/", () => {
  it("[C6.20, C6.24] shows one, and answers an unknown one with 404", async () => {
    app.peers.when("scanHistory", "getScan", async ({ id }) => {
      if (id === 5) return { scan: admitted };
      throw new Fault("not_found", "scan_not_found", "The event has no such check-in.");
    });
    expect(await app.send("GET", `${history}5/`)).toMatchObject({ status: 200, json: shownAdmitted });
    expect((await app.send("GET", `${history}6/`)).status).toBe(404);
    expect((await app.send("GET", `${history}x/`)).status).toBe(404);
    expect((await app.send("GET", `${history}5/`, { key: keys.gate })).status).toBe(403);
    expect(app.peers.requestsOf("getScan")).toEqual([
      { organizer: "bigevents", event: "sampleconf", id: 5 },
      { organizer: "bigevents", event: "sampleconf", id: 6 },
    ]);
  });
});
