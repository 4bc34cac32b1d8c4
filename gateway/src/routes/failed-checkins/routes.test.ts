import { Fault } from "@tessera/kit/fault";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { beforeEach, describe, expect, it } from "vitest";
import { aList } from "../../testing/fake-peers.ts";
import { appOfEachTest, devices, inEvent, keys } from "../../testing/serve-app.ts";
import { errorReasons } from "./schema.ts";

const address = `${inEvent}/checkinlists/7/failed_checkins/`;
const least = { error_reason: "unpaid", raw_barcode: "abc" };

const app = appOfEachTest();
beforeEach(() => {
  app.peers.when("scanHistory", "recordFailedScan", async ({ scan }) => ({
    scan: scan && { ...scan, at: scan.at ?? 1_700_000_000_123_456 },
  }));
  app.peers.when("checkinLists", "getCheckinList", async ({ id }) => {
    if (id !== 7) throw new Fault("not_found", "checkin_list_not_found", "There is no such list.");
    return { list: aList() };
  });
});

const recorded = () => app.peers.requestsOf("recordFailedScan");

describe("POST failed_checkins/", () => {
  it("[C6.1] takes reason and code, fills in the rest, and answers what is stored", async () => {
    const { status, json } = await app.send("POST", address, { body: least });
    expect(status).toBe(201);
    expect(json).toEqual({
      error_reason: "unpaid",
      error_explanation: null,
      raw_barcode: "abc",
      raw_source_type: "barcode",
      raw_item: null,
      raw_variation: null,
      raw_subevent: null,
      nonce: null,
      datetime: "2023-11-14T22:13:20.123456Z",
      type: "entry",
      position: null,
    });
    expect(recorded()).toEqual([
      {
        organizer: "bigevents",
        event: "sampleconf",
        list: 7,
        deviceId: undefined,
        gate: undefined,
        leavesOutUnknown: true,
        scan: { reason: "unpaid", rawCode: "abc", sourceType: "barcode", type: ScanType.ENTRY },
      },
    ]);
  });

  it("[C6.1, C6.3] takes every field, and the device and gate of the device that sends them", async () => {
    const body = {
      error_reason: "product",
      error_explanation: "Not for this door",
      raw_barcode: "binary:AAECAw==",
      raw_source_type: "nfc_uid",
      raw_item: 11,
      raw_variation: "12",
      raw_subevent: 13,
      nonce: " n ",
      datetime: "2026-11-21T12:00:00.000001Z",
      type: "exit",
      position: 42,
    };
    const { status, json } = await app.send("POST", address, { body, key: devices.scan });
    expect([status, json]).toEqual([201, { ...body, raw_variation: 12 }]);
    expect(recorded()).toEqual([
      {
        organizer: "bigevents",
        event: "sampleconf",
        list: 7,
        deviceId: 3,
        gate: 2,
        leavesOutUnknown: false,
        scan: {
          reason: "product",
          explanation: "Not for this door",
          rawCode: "binary:AAECAw==",
          sourceType: "nfc_uid",
          rawItem: 11,
          rawVariation: 12,
          rawSubevent: 13,
          nonce: " n ",
          at: Date.UTC(2026, 10, 21, 12) * 1000 + 1,
          type: ScanType.EXIT,
          position: 42,
        },
      },
    ]);
  });

  it("[C6.1] reads null as not sent", async () => {
    const optional = [
      ...["error_explanation", "raw_source_type", "raw_item", "raw_variation", "raw_subevent"],
      ...["nonce", "datetime", "type", "position"],
    ];
    const body = { ...least, ...Object.fromEntries(optional.map((name) => [name, null])) };
    expect((await app.send("POST", address, { body })).status).toBe(201);
    expect((await app.send("POST", address, { body: { ...least, nonce: "" } })).status).toBe(201);
    expect((await app.send("POST", address, { body: least })).status).toBe(201);
    const [first, ...others] = recorded();
    expect(others).toEqual([first, first]);
  });

  it("[C6.2] takes every reason that a scanner may know, and refuses all others", async () => {
    expect(errorReasons).toHaveLength(17);
    for (const error_reason of errorReasons) {
      const { status, json } = await app.send("POST", address, { body: { ...least, error_reason } });
      expect([status, json]).toMatchObject([201, { error_reason }]);
    }
    for (const error_reason of ["exchange", "ok", "UNPAID", "", null, 5]) {
      const { status, json } = await app.send("POST", address, { body: { ...least, error_reason } });
      expect([status, Object.keys(json as object)]).toEqual([400, ["error_reason"]]);
    }
  });

  it("[C6.4] takes an item, a variation and a date by the names of pretixSCAN, and ignores what is wrong of them", async () => {
    const bodies = [
      { item: 9, variation: 91, subevent: 5 },
      { item: 9, variation: "x", subevent: {} },
      { item: 9, raw_item: 8 },
    ];
    for (const body of bodies)
      expect((await app.send("POST", address, { body: { ...least, ...body } })).status).toBe(201);
    expect(recorded()).toMatchObject([
      { leavesOutUnknown: true, scan: { rawItem: 9, rawVariation: 91, rawSubevent: 5 } },
      { leavesOutUnknown: true, scan: { rawItem: 9 } },
      { leavesOutUnknown: false, scan: { rawItem: 8 } },
    ]);
    expect(recorded()[1]).not.toHaveProperty("scan.rawVariation", expect.anything());
  });

  it("[C6.5] names every wrong field", async () => {
    const body = {
      raw_barcode: " ",
      raw_source_type: "eyes",
      raw_item: "x",
      nonce: "n".repeat(191),
      datetime: "yesterday",
      type: "both",
      position: -1,
    };
    const { status, json } = await app.send("POST", address, { body });
    expect(status).toBe(400);
    expect(Object.keys(json as object).sort()).toEqual(["error_reason", ...Object.keys(body)].sort());
    expect(recorded()).toEqual([]);
  });

  it("[C6.6] is 404 where there is no such list, whatever is wrong with the body", async () => {
    const nowhere = `${inEvent}/checkinlists/8/failed_checkins/`;
    expect((await app.send("POST", nowhere, { body: {} })).status).toBe(404);
    expect((await app.send("POST", nowhere, { body: "{" })).status).toBe(404);
    expect((await app.send("POST", address, { body: {} })).status).toBe(400);
  });

  it("[C6.7] is for those who may redeem, and for every scanning device", async () => {
    for (const [key, status] of [
      [keys.gate, 201],
      [devices.scan, 201],
      [devices.kiosk, 201],
      [devices.full, 201],
      [keys.reader, 403],
      [keys.settings, 403],
    ] as const) {
      expect([key, (await app.send("POST", address, { key, body: least })).status]).toEqual([key, status]);
    }
  });
});
