import { Fault } from "@tessera/kit/fault";
import type { Double, DoubledScan } from "@tessera/protos/gen/ticketing/checkin/v1/doubles";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { describe, expect, it } from "vitest";
import { appOfEachTest, devices, inEvent, keys, publicBase } from "../../testing/serve-app.ts";

const ledger = `${inEvent}/doubles/`;
const place = { organizer: "bigevents", event: "sampleconf" };

const app = appOfEachTest();

const scanned = (id: number, at: number, device: number | undefined): DoubledScan => ({
  checkin: {
    ...{ id, list: 7, at: 1_700_000_000_000_000 + at, type: ScanType.ENTRY, autoCheckedIn: false },
    ...(device === undefined ? {} : { gate: device + 100, device, deviceId: device }),
  },
  createdAt: 1_700_003_600_000_000,
});

const double: Double = {
  scan: scanned(6, 90_999_999, 3),
  earlier: scanned(5, 0, undefined),
  position: 42,
  orderCode: "ABC12",
  positionid: 1,
  reasons: ["already_redeemed"],
  createdAt: 1_700_003_600_000_000,
};

const alone: Double = {
  ...double,
  scan: scanned(8, 0, 3),
  earlier: undefined,
  reasons: ["canceled"],
  note: { text: '=A "copy"', by: "Back office", at: 1_700_010_000_000_000 },
};

const shownScan = { created: "2023-11-14T23:13:20Z", auto_checked_in: false };
const shown = {
  ...{ id: 6, list: 7, position: 42, order: "ABC12", positionid: 1, reasons: ["already_redeemed"] },
  ...{ created: "2023-11-14T23:13:20Z", seconds_apart: 90 },
  earlier: { ...shownScan, id: 5, datetime: "2023-11-14T22:13:20Z", gate: null, device: null, device_id: null },
  scan: { ...shownScan, id: 6, datetime: "2023-11-14T22:14:50.999999Z", gate: 103, device: 3, device_id: 3 },
  ...{ explained: null, explained_by: null, explained_at: null },
};
const shownAlone = {
  ...shown,
  ...{ id: 8, reasons: ["canceled"], seconds_apart: null, earlier: null },
  scan: { ...shown.scan, id: 8, datetime: "2023-11-14T22:13:20Z" },
  ...{ explained: '=A "copy"', explained_by: "Back office", explained_at: "2023-11-15T01:00:00Z" },
};

const everyFilter = [
  "list=7&position=42&device=3&gate=103&reason=canceled&explained=true",
  "created_since=2026-11-21T12:00:00Z&created_before=2026-11-21T13:00:00Z",
  "datetime_since=2026-11-21T10:00:00.000001Z&datetime_before=2026-11-21T11:00:00Z",
].join("&");
const hour = (number: number) => Date.UTC(2026, 10, 21, number) * 1000;
const readFilter = {
  ...{ list: 7, position: 42, device: 3, gate: 103, reason: "canceled", explained: true },
  ...{ createdSince: hour(12), createdBefore: hour(13), atSince: hour(10) + 1, atBefore: hour(11) },
};

describe("GET doubles/", () => {
  it("[F3.6] shows both scans, how far they are apart, and what was found out", async () => {
    app.peers.when("doubles", "listDoubles", async ({ page }) => ({ doubles: [double, alone], count: 102, page }));
    const { status, json } = await app.send("GET", ledger);
    expect([status, json]).toEqual([
      200,
      { count: 102, next: `${publicBase}${ledger}?page=2`, previous: null, results: [shown, shownAlone] },
    ]);
  });

  it("[F3.6, F3.7] passes page, order and every filter on as the service reads them", async () => {
    app.peers.when("doubles", "listDoubles", async ({ page }) => ({ doubles: [], count: 102, page }));
    await app.send("GET", `${ledger}?page=2&page_size=10&ordering=-datetime,nonsense,id&${everyFilter}`);
    expect(app.peers.requestsOf("listDoubles")).toEqual([
      { ...place, page: 2, pageSize: 10, ordering: ["-datetime", "id"], filter: readFilter },
    ]);
  });

  it("[F3.7] names every wrong filter", async () => {
    const filters = {
      ...{ created_since: "x", created_before: "x", datetime_since: "x", datetime_before: "2026-13-01" },
      ...{ reason: "invalid", list: "x", position: "x", gate: "west", device: "1.5" },
    };
    const { status, json } = await app.send("GET", `${ledger}?${new URLSearchParams(filters)}`);
    expect(status).toBe(400);
    expect(Object.keys(json as object).sort()).toEqual(Object.keys(filters).sort());
    expect(app.peers.calls).toEqual([]);
  });

  it("[F3.9] is 400 where too many tickets have to be looked at", async () => {
    app.peers.when("doubles", "listDoubles", async () => {
      throw new Fault("invalid", "too_many_doubtful", "More than 20000 tickets have to be looked at.");
    });
    expect(await app.send("GET", ledger)).toMatchObject({ status: 400, text: expect.stringContaining("20000") });
  });
});

describe("the table of doubles", () => {
  const head =
    "id,list,order,positionid,position,reasons,earlier_datetime,earlier_created,earlier_device,earlier_gate,datetime,created,device,gate,seconds_apart,explained,explained_by,explained_at\r\n";
  const first =
    "6,7,ABC12,1,42,already_redeemed,2023-11-14T22:13:20Z,2023-11-14T23:13:20Z,,,2023-11-14T22:14:50.999999Z,2023-11-14T23:13:20Z,3,103,90,,,\r\n";
  const last =
    '8,7,ABC12,1,42,canceled,,,,,2023-11-14T22:13:20Z,2023-11-14T23:13:20Z,3,103,,"\'=A ""copy""",Back office,2023-11-15T01:00:00Z\r\n';
  const after = { position: 42, list: 7 };

  const answerParts = () =>
    app.peers.when("doubles", "nextDoubles", async (request) =>
      request.after === undefined ? { doubles: [double], next: after } : { doubles: [alone] },
    );

  it.each([
    ["the query", "?format=csv&", {}],
    ["the query, whatever is accepted", "?format=csv&", { accept: "application/json" }],
    ["the Accept header", "?", { accept: "text/csv" }],
    ["the Accept header, with a parameter", "?", { accept: "text/csv; charset=utf-8" }],
  ])("[F3.13] comes part by part, where %s asks for it", async (_name, query, headers) => {
    answerParts();
    const answer = await app.send("GET", `${ledger}${query}${everyFilter}`, { headers });
    expect([answer.status, answer.text]).toEqual([200, head + first + last]);
    expect(answer.headers).toMatchObject({
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": "attachment; filename=doubles.csv",
    });
    expect(app.peers.requestsOf("nextDoubles")).toEqual([
      { ...place, filter: readFilter },
      { ...place, filter: readFilter, after },
    ]);
  });

  it.each([
    ["both are accepted", "", "text/csv, application/json"],
    ["everything is accepted", "", "*/*"],
    ["the query says so", "?format=json", "text/csv"],
  ])("[F3.13] does not come where %s", async (_name, query, accept) => {
    app.peers.when("doubles", "listDoubles", async ({ page }) => ({ doubles: [], count: 0, page }));
    const { headers } = await app.send("GET", `${ledger}${query}`, { headers: { accept } });
    expect(headers["content-type"]).toMatch(/^application\/json/);
  });

  it("[F3.13, A4.23] is no format of other addresses", async () => {
    for (const path of [`${ledger}counts/`, `${inEvent}/checkins/`])
      expect((await app.send("GET", `${path}?format=csv`)).status).toBe(404);
    expect((await app.send("GET", `${ledger}?format=xls`)).status).toBe(404);
  });

  it("[F3.13] has a status of its own where its first part fails, and is cut off where a later one does", async () => {
    const failing = new Fault("invalid", "invalid_filter", "no such list", { fields: { list: ["unknown"] } });
    app.peers.when("doubles", "nextDoubles", () => Promise.reject(failing));
    expect(await app.send("GET", `${ledger}?format=csv&list=9`)).toMatchObject({
      status: 400,
      json: { list: ["unknown"] },
    });
    app.peers.when("doubles", "nextDoubles", async (request) => {
      if (request.after === undefined) return { doubles: [double], next: after };
      throw failing;
    });
    await expect(app.send("GET", `${ledger}?format=csv`)).rejects.toThrow("aborted");
    expect((await app.send("HEAD", `${ledger}?format=csv`)).status).toBe(200);
  });
});

describe("GET doubles/counts/", () => {
  it("[F3.8, F3.7] shows devices and gates, with every filter", async () => {
    app.peers.when("doubles", "countDoubles", async () => ({
      ...{ count: 3, explained: 1 },
      devices: [
        { id: 3, count: 2, explained: 1 },
        { count: 1, explained: 0 },
      ],
      gates: [{ id: 103, count: 3, explained: 1 }],
    }));
    const { status, json } = await app.send("GET", `${ledger}counts/?${everyFilter}`);
    expect([status, json]).toEqual([
      200,
      {
        ...{ count: 3, explained: 1 },
        devices: [
          { device: 3, count: 2, explained: 1 },
          { device: null, count: 1, explained: 0 },
        ],
        gates: [{ gate: 103, count: 3, explained: 1 }],
      },
    ]);
    expect(app.peers.requestsOf("countDoubles")).toEqual([{ ...place, filter: readFilter }]);
  });
});

describe("one double", () => {
  const explain = (body: unknown, key?: string) =>
    app.send("PATCH", `${ledger}6/`, { body, ...(key === undefined ? {} : { key }) });

  it("[F3.6, F3.12] is shown by its id; an unknown one is 404", async () => {
    app.peers.when("doubles", "getDouble", async ({ id }) => {
      if (id === 6) return { double };
      throw new Fault("not_found", "double_not_found", "The event has no such double.");
    });
    expect(await app.send("GET", `${ledger}6/`)).toMatchObject({ status: 200, json: shown });
    expect((await app.send("GET", `${ledger}7/`)).status).toBe(404);
    expect((await app.send("GET", `${ledger}x/`)).status).toBe(404);
  });

  it("[F3.10] is explained in the name of the key, and by an empty text no more", async () => {
    app.peers.when("doubles", "explainDouble", async ({ text, by }) => ({
      double: { ...double, ...(text === "" ? {} : { note: { text, by, at: 1_700_010_000_000_000 } }) },
    }));
    expect((await explain({ explained: "  A copy. " })).json).toEqual({
      ...shown,
      ...{ explained: "A copy.", explained_by: `The ${keys.all}`, explained_at: "2023-11-15T01:00:00Z" },
    });
    expect((await explain({ explained: "", by: "Somebody", id: 9 }, devices.full)).json).toEqual(shown);
    expect(app.peers.requestsOf("explainDouble")).toEqual([
      { ...place, id: 6, text: "A copy.", by: `The ${keys.all}` },
      { ...place, id: 6, text: "", by: `The ${devices.full}` },
    ]);
  });

  it("[F3.10] is explained by a text of at most 1000 characters", async () => {
    const bodies = [{}, { explained: null }, { explained: "x".repeat(1001) }];
    app.peers.when("doubles", "getDouble", async () => ({ double }));
    for (const body of bodies) {
      const { status, json } = await explain(body);
      expect([status, Object.keys(json as object)]).toEqual([400, ["explained"]]);
    }
    app.peers.when("doubles", "getDouble", async () => {
      throw new Fault("not_found", "double_not_found", "The event has no such double.");
    });
    for (const body of bodies) expect((await explain(body)).status).toBe(404);
    expect(app.peers.requestsOf("explainDouble")).toEqual([]);
  });
});

it("[F3.14] the ledger is for those who may read orders, explanations for those who may change them, and neither for scanning devices", async () => {
  app.peers.when("doubles", "listDoubles", async ({ page }) => ({ doubles: [], count: 0, page }));
  app.peers.when("doubles", "nextDoubles", async () => ({ doubles: [] }));
  app.peers.when("doubles", "countDoubles", async () => ({ count: 0, explained: 0, devices: [], gates: [] }));
  app.peers.when("doubles", "getDouble", async () => ({ double }));
  app.peers.when("doubles", "explainDouble", async () => ({ double }));
  for (const [key, reads, writes] of [
    [keys.reader, 200, 403],
    [devices.full, 200, 200],
    [keys.all, 200, 200],
    [keys.gate, 403, 403],
    [devices.scan, 403, 403],
    [devices.kiosk, 403, 403],
    [keys.otherEvent, 403, 403],
    [keys.otherOrganizer, 403, 403],
  ] as const) {
    for (const path of ["", "?format=csv", "counts/", "6/"])
      expect([key, path, (await app.send("GET", `${ledger}${path}`, { key })).status]).toEqual([key, path, reads]);
    const body = { explained: "A copy." };
    expect([key, (await app.send("PATCH", `${ledger}6/`, { key, body })).status]).toEqual([key, writes]);
  }
});
