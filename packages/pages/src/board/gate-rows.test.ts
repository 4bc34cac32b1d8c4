import { describe, expect, it } from "vitest";
import { type Column, type GateRow, gateRows, sortRows } from "./gate-rows.ts";
import type { Live, LiveDevice, LiveGate } from "./live.ts";

const at = "2026-11-28T20:00:00Z";
const ago = (seconds: number) => new Date(Date.parse(at) - seconds * 1000).toISOString();

const gate = (id: number | null, changes: Partial<LiveGate> = {}): LiveGate => ({
  ...{ gate: id, entries: 0, exits: 0, refused: 0, reasons: {}, last_scan: null },
  ...changes,
});
const device = (id: number, changes: Partial<LiveDevice> = {}): LiveDevice => ({
  ...{ ...gate(1), device_id: id, name: `D${id}`, last_contact: ago(1), queue: 0, battery: 80, last_sync: ago(1) },
  ...changes,
});
const live = (changes: Partial<Live>): Live => ({
  ...{
    at,
    entries: 0,
    exits: 0,
    refused: 0,
    lists: [],
    gates: [],
    devices: [],
    refusals: [],
    doubles: null,
    alarms: [],
  },
  ...changes,
});
const nameOf = (id: number | null) => (id === null ? "Without" : `Gate ${id}`);

describe("[B3.4] a line of the table", () => {
  it.each([
    ["that scanned within the minute is busy", { entries: 3, last_scan: ago(2) }, "busy"],
    ["that refused alone is busy", { refused: 1, last_scan: ago(2) }, "busy"],
    ["that scanned two minutes ago is silent", { last_scan: ago(120) }, "silent"],
    ["that has just stopped is quiet", { last_scan: ago(60) }, "quiet"],
    ["without a scan is quiet", {}, "quiet"],
  ])("of a gate %s", (_name, changes, state) => {
    expect(gateRows(live({ gates: [gate(1, changes)] }), nameOf)[0]?.state).toBe(state);
  });

  it("has the share of refusals and the reason of most", () => {
    const [row] = gateRows(
      live({ gates: [gate(1, { entries: 2, exits: 1, refused: 3, reasons: { unpaid: 1, invalid: 2 } })] }),
      nameOf,
    );
    expect(row).toMatchObject({ name: "Gate 1", refusedShare: 0.5, reason: "invalid" });
  });

  it("says what is wrong with its devices, and of those alone", () => {
    const devices = [
      device(1, { queue: 4, battery: 15 }),
      device(2, { last_contact: ago(300), last_sync: ago(300) }),
      device(3, { last_sync: ago(121) }),
      device(4, { queue: null, battery: null, last_sync: null, last_contact: null }),
      device(5, { gate: 2, queue: 9 }),
    ];
    const [row] = gateRows(live({ gates: [gate(1)], devices }), nameOf);
    expect(row?.devices.map(({ troubles }) => troubles.map(({ kind }) => kind))).toEqual([
      ["queued", "low_battery"],
      ["not_heard"],
      ["behind"],
      [],
    ]);
    expect(row?.troubles).toBe(4);
  });
});

describe("[B3.4] the table sorts", () => {
  const rows = gateRows(
    live({
      gates: [
        gate(10, { entries: 5, last_scan: ago(5) }),
        gate(2, { entries: 5, refused: 2, last_scan: ago(200) }),
        gate(null, { entries: 1 }),
      ],
    }),
    nameOf,
  );
  it.each([
    ["name", false, [2, 10, null]],
    ["name", true, [null, 10, 2]],
    ["entries", true, [2, 10, null]],
    ["refused", true, [2, 10, null]],
    ["silentMs", false, [10, 2, null]],
    ["troubles", false, [2, 10, null]],
  ] satisfies [Column, boolean, (number | null)[]][])("by %s, descending: %s", (by, descends, expected) => {
    expect(sortRows(rows, { by, descends }).map((row: GateRow) => row.gate)).toEqual(expected);
  });
});
