import { describe, expect, it } from "vitest";
import { fillIn } from "../ui/words/choose-language.ts";
import { sayAlarm } from "./alarm-text.ts";
import type { LiveAlarm, LiveDevice, LiveList } from "./live.ts";
import { de } from "./words/de.ts";
import { en, type Words } from "./words/en.ts";

const at = "2026-11-28T20:00:00Z";
const ago = (seconds: number) => new Date(Date.parse(at) - seconds * 1000).toISOString();

const alarm = (kind: string, changes: Partial<LiveAlarm> = {}): LiveAlarm => ({
  ...{ id: 1, kind, gate: 3, device_id: null, list: null, raised: ago(30), ended: null },
  ...{ acknowledged: null, acknowledged_by: null, since: null, measured: null, usual: null },
  ...changes,
});

const device: LiveDevice = {
  ...{ device_id: 7, name: "North 1", gate: 3, entries: 0, exits: 0, refused: 0, reasons: {}, last_scan: null },
  ...{ last_contact: null, queue: 140, battery: null, last_sync: null },
};

const zone: LiveList = {
  ...{ id: 4, name: "Field", position_count: 900, checkin_count: 480, inside_count: 470 },
  limit: { persons: 471, soft_limit: null, hard_limit: 500, reached: null },
};

function read(words: Words, said: LiveAlarm, devices: readonly LiveDevice[] = [device]): string {
  const nameOf = (gate: number | null) => (gate === null ? "Nowhere" : "North gate");
  return sayAlarm(
    said,
    { now: Date.parse(at), nameOf, devices, lists: [zone] },
    {
      say: (word, values = {}) => fillIn(words[word], values),
      sayNumber: String,
      sayShare: (share) => `${Math.round(share * 100)}%`,
      saySpan: (ms) => `${Math.round(ms / 1000)}s`,
    },
  );
}

describe("[B4.13] an alarm is one plain sentence", () => {
  const ofDevice = { gate: null, device_id: 7 };
  it.each([
    [alarm("gate_silent", { since: ago(125) }), "North gate: no scan for 125s", "North gate: seit 125s kein Scan"],
    [
      alarm("rate_fell", { measured: 9.6, usual: 24.2 }),
      "North gate: 10 scans a minute, 24 before",
      "North gate: 10 Scans je Minute, vorher 24",
    ],
    [
      alarm("refusals_rose", { measured: 0.31, usual: 0.05 }),
      "North gate: 31% of scans refused, 5% before",
      "North gate: 31% der Scans abgewiesen, vorher 5%",
    ],
    [
      alarm("clock_off", { ...ofDevice, measured: 290 }),
      "North 1 (North gate): its clock is 290s ahead",
      "North 1 (North gate): Die Uhr geht 290s vor",
    ],
    [
      alarm("queue_grows", { ...ofDevice, measured: 60, usual: 20 }),
      "North 1 (North gate): 140 scans not uploaded yet",
      "North 1 (North gate): 140 Scans noch nicht hochgeladen",
    ],
    [
      alarm("limit_near", { gate: null, list: 4, measured: 452, usual: 500 }),
      "Field: 471 inside, the limit is 500",
      "Field: 471 sind drin, die Grenze ist 500",
    ],
  ])("%o", (said, english, german) => {
    expect(read(en, said)).toBe(english);
    expect(read(de, said)).toBe(german);
  });

  it("also where the device is not known, or the kind", () => {
    expect(read(en, alarm("queue_grows", { ...ofDevice, measured: 60 }), [])).toBe(
      "Device 7: 60 scans not uploaded yet",
    );
    expect(read(en, alarm("gate_silent", { gate: null, since: ago(60) }))).toBe("Nowhere: no scan for 60s");
    expect(read(en, alarm("of_the_future"))).toBe("Alarm: of_the_future");
  });
});
