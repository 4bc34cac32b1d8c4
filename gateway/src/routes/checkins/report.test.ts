import { Fault } from "@tessera/kit/fault";
import { DocumentKind } from "@tessera/protos/gen/ticketing/boxoffice/v1/catalogue";
import type { ReportDayRequest, ReportDayResponse } from "@tessera/protos/gen/ticketing/checkin/v1/day_report";
import { beforeEach, describe, expect, it } from "vitest";
import { appOfEachTest, devices, inEvent, keys } from "../../testing/serve-app.ts";

const path = `${inEvent}/checkins/report/`;

const app = appOfEachTest({
  findDeviceNames: async (organizer, devices) => new Map(devices.map((id) => [id, `Device ${id} of ${organizer}`])),
});

const midnight = Date.UTC(2027, 4, 11, 22) * 1000;
const scans = { entries: 2, exits: 1, refusals: 3 };
const none = { entries: 0, exits: 0, refusals: 0 };

const found: ReportDayResponse = {
  ...{ date: "2027-05-12", timezone: "Europe/Berlin", eventName: "Sample Conf", locale: "en" },
  quarters: [
    { at: midnight, local: "00:00", scans, inside: 8 },
    { at: midnight + 900_000_000, local: "00:15", scans: none, inside: 8 },
  ],
  ...{
    entered: 2,
    firstAt: midnight + 1,
    lastAt: midnight + 2,
    insideBefore: 7,
    peak: 9,
    peakAt: midnight + 1_000_000,
  },
  products: [
    { item: 1, itemName: "=Ticket", scans, entered: 2 },
    { scans: none, entered: 0 },
  ],
  lists: [{ id: 7, name: "Door", scans }],
  gates: [{ id: 2, scans }, { scans: none }],
  devices: [{ id: 9, scans }],
  reasons: [{ reason: "unpaid", count: 3 }],
};

let asked: ReportDayRequest[];

beforeEach(() => {
  asked = [];
  app.peers.when("scanHistory", "reportDay", async (request) => {
    asked.push(request);
    return found;
  });
  app.peers.when("catalogue", "listDocuments", async ({ organizer, event, kind, page }) => {
    expect({ organizer, event, kind }).toEqual({ organizer: "bigevents", event: "", kind: DocumentKind.GATE });
    // The gate of the report is on the second page.
    const first = page === 1 ? 100 : 1;
    const gates = Array.from({ length: page === 1 ? 50 : 2 }, (_, index) => ({ id: first + index, name: "North" }));
    const documents = gates.map((gate) => ({ event: "", json: Buffer.from(JSON.stringify(gate)) }));
    return { documents, count: 52, page, asOf: 0, isUnchanged: false };
  });
});

describe("GET checkins/report/", () => {
  it("[C9.1, C9.2] shows the quarters, totals and counts", async () => {
    expect((await app.send("GET", path)).json).toEqual({
      ...{ date: "2027-05-12", timezone: "Europe/Berlin", list: null, subevent: null },
      totals: { scans: 6, ...scans, entered: 2 },
      ...{ first_scan: "2027-05-11T22:00:00.000001Z", last_scan: "2027-05-11T22:00:00.000002Z" },
      inside: { at_begin: 7, at_end: 8, peak: 9, peak_at: "2027-05-11T22:00:01Z" },
      quarters: [
        { start: "2027-05-11T22:00:00Z", local: "00:00", ...scans, inside: 8 },
        { start: "2027-05-11T22:15:00Z", local: "00:15", ...none, inside: 8 },
      ],
      products: [
        { item: 1, item_name: "=Ticket", variation: null, variation_name: null, ...scans, entered: 2 },
        { item: null, item_name: null, variation: null, variation_name: null, ...none, entered: 0 },
      ],
      lists: [{ list: 7, list_name: "Door", ...scans }],
      gates: [
        { gate: 2, gate_name: "North", ...scans },
        { gate: null, gate_name: null, ...none },
      ],
      devices: [{ device: 9, device_name: "Device 9 of bigevents", ...scans }],
      reasons: [{ reason: "unpaid", count: 3 }],
    });
    expect(asked).toEqual([{ organizer: "bigevents", event: "sampleconf" }]);
  });

  it.each([
    ["away", new Fault("unavailable", "peer_unavailable", "boxoffice is away")],
    ["hanging", new Fault("timeout", "deadline_exceeded", "boxoffice is late")],
    ["full", new Fault("exhausted", "overloaded", "boxoffice has no room")],
  ])("[C9.2] has no names of gates while boxoffice is %s", async (_how, error) => {
    app.peers.when("catalogue", "listDocuments", () => Promise.reject(error));
    const { status, json } = await app.send("GET", path);
    expect([status, (json as { gates: object[] }).gates[0]]).toEqual([200, { gate: 2, gate_name: null, ...scans }]);
  });

  it("[C9.6] passes day, list and date of the series on, and names what is wrong", async () => {
    const { json } = await app.send("GET", `${path}?date=2027-05-12&list=7&subevent=3`);
    expect(asked).toMatchObject([{ date: "2027-05-12", list: 7, subevent: 3 }]);
    expect(json).toMatchObject({ list: 7, subevent: 3 });
    const wrong = await app.send("GET", `${path}?list=x&subevent=y`);
    expect([wrong.status, Object.keys(wrong.json as object).sort()]).toEqual([400, ["list", "subevent"]]);
    app.peers.when("scanHistory", "reportDay", async () => {
      throw new Fault("invalid", "invalid_filter", "no date", { fields: { date: ["This is not a date."] } });
    });
    const noDate = await app.send("GET", `${path}?date=today`);
    expect([noDate.status, noDate.json]).toEqual([400, { date: ["This is not a date."] }]);
  });

  it.each([
    ["?format=csv", {}],
    ["", { accept: "text/csv" }],
  ])("[C9.7] is the table of the quarters: %s %o", async (query, headers) => {
    const answer = await app.send("GET", path + query, { headers });
    expect([answer.headers["content-type"], answer.headers["content-disposition"]]).toEqual([
      "text/csv; charset=utf-8",
      "attachment; filename=checkins-2027-05-12.csv",
    ]);
    expect(answer.text).toBe(
      "start,local,entries,exits,refusals,inside\r\n2027-05-11T22:00:00Z,00:00,2,1,3,8\r\n2027-05-11T22:15:00Z,00:15,0,0,0,8\r\n",
    );
  });

  it.each([
    ["?format=pdf", {}],
    ["", { accept: "application/pdf" }],
  ])("[C9.9, A4.23] is a PDF: %s %o", async (query, headers) => {
    app.peers.when("rendering", "printDayReport", async ({ organizer, event, report }) => {
      const [gates, devices] = [
        [{ id: 2, name: "North", scans }, { scans: none }],
        [{ id: 9, name: "Device 9 of bigevents", scans }],
      ];
      const named = { ...found, gates, devices };
      expect({ organizer, event, report }).toEqual({ organizer: "bigevents", event: "sampleconf", report: named });
      return { pdf: Buffer.from("%PDF-") };
    });
    const answer = await app.send("GET", path + query, { headers });
    expect([answer.status, answer.headers["content-type"], answer.headers["content-disposition"], answer.text]).toEqual(
      [200, "application/pdf", "attachment; filename=checkins-2027-05-12.pdf", "%PDF-"],
    );
    expect((await app.send("GET", `${inEvent}/checkins/?format=pdf`)).status).toBe(404);
  });

  it("[C9.8] one at a time for an organizer; others wait", async () => {
    const waits: (() => void)[] = [];
    app.peers.when("scanHistory", "reportDay", async () => {
      await new Promise<void>((resolve) => {
        waits.push(resolve);
      });
      return found;
    });
    const answers = [1, 2].map(() => app.send("GET", path));
    await expect.poll(() => waits).toHaveLength(1);
    waits[0]?.();
    await expect.poll(() => waits).toHaveLength(2);
    waits[1]?.();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200]);
  });

  it("[C9.1] is for those who may read orders, and for no scanning device", async () => {
    for (const [key, status] of [
      [keys.reader, 200],
      [devices.full, 200],
      [keys.gate, 403],
      [devices.scan, 403],
      [keys.otherEvent, 403],
    ] as const)
      expect([key, (await app.send("GET", path, { key })).status]).toEqual([key, status]);
  });
});
