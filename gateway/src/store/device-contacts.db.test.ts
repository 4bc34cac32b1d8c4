import { systemClock } from "@tessera/kit/clock";
import { sql } from "@tessera/kit/pg/sql";
import { createMetrics } from "@tessera/kit/telemetry/metrics";
import { afterAll, expect, it } from "vitest";
import { measureDevices } from "../jobs/measure-devices.ts";
import { gatewayDatabase } from "../testing/database.ts";
import { findDeviceNames } from "./credentials.ts";
import { type DeviceContact, findContacts, findHeardDevices, storeContacts } from "./device-contacts.ts";

const { database, db } = await gatewayDatabase();
afterAll(() => database.drop());

const heard = (changes: Partial<DeviceContact> = {}): DeviceContact => ({
  ...{ organizer: "bigevents", device: 1, seenAt: 1_800_000_000_000_000, syncedAt: null, queue: null, battery: null },
  ...changes,
});
const found = () => findContacts(db, { organizer: "bigevents", devices: [1, 2] });

it("[F5.4] keeps what a device said last, whichever gateway heard it", async () => {
  const later = 1_800_000_001_000_000;
  await storeContacts(db, [heard({ queue: 5, battery: 80, syncedAt: later }), heard({ organizer: "rivals" })]);
  await storeContacts(db, [heard({ seenAt: later, queue: 3 })]);
  await storeContacts(db, [heard({ queue: 9, battery: 90 }), heard({ device: 3 })]);
  expect(await found()).toEqual([heard({ seenAt: later, syncedAt: later, queue: 3, battery: 80 })]);
});

it("[F5.1, F5.4] takes no answer for a request: what the device said last still counts", async () => {
  await db.run(sql`delete from device_contact`);
  const [said, later, synced] = [1, 2, 3].map((second) => 1_800_000_000_000_000 + second * 1_000_000) as [
    number,
    number,
    number,
  ];
  await storeContacts(db, [heard({ seenAt: said, queue: 5 })]);
  await storeContacts(db, [{ ...heard({ syncedAt: synced, device: 1 }), seenAt: null }]);
  expect(await found()).toEqual([heard({ seenAt: said, syncedAt: synced, queue: 5 })]);
  // Another gateway stores later what it heard sooner.
  await storeContacts(db, [heard({ seenAt: later, queue: 3 })]);
  expect(await found()).toEqual([heard({ seenAt: later, syncedAt: synced, queue: 3 })]);
  await storeContacts(db, [{ ...heard({ syncedAt: synced, device: 2 }), seenAt: null }]);
  expect(await found()).toHaveLength(1);
});

it("[F5.5] shows how the devices of each gate are, and no gate whose devices are put away", async () => {
  await db.run(sql`delete from device_contact`);
  await db.run(sql`
    insert into credential (organizer, kind, id, revision, name, permissions, all_events, events, active, device)
    select 'bigevents', 'device', number.id::text, 1, '', '{}', true, '{}', true,
           jsonb_build_object('gate', case when number.id < 4 then 5 end)
      from generate_series(1, 4) as number (id)`);
  const now = systemClock.now();
  const [minute, hour] = [60_000_000, 3_600_000_000];
  await storeContacts(db, [
    heard({ device: 1, seenAt: now - minute, queue: 4, battery: 70 }),
    heard({ device: 2, seenAt: now, syncedAt: now - minute, queue: 5, battery: 40 }),
    heard({ device: 3, seenAt: now - 13 * hour, queue: 9, battery: 1 }),
    heard({ device: 4, seenAt: now }),
  ]);
  const metrics = createMetrics();
  const job = measureDevices({ db, clock: systemClock, metrics });
  const read = async () => {
    await job.run(new AbortController().signal);
    const lines = (await metrics.exposition()).split("\n").filter((line) => line.startsWith("tessera_gate_"));
    return lines.map((line) => line.replace(/^tessera_gate_(\w+)\{.*gate="(\d*)".*\} ([\d]+).*$/, "$1 $2 $3")).sort();
  };
  const seconds = expect.stringMatching(/^s[iy]nced_seconds 5 6\d$|^silent_seconds (?:5 6\d| \d)$/);
  expect(await read()).toEqual([
    ...["battery_percent 5 40", "queued_scans  0", "queued_scans 5 9", seconds, seconds, seconds],
  ]);
  await db.run(sql`delete from device_contact where device < 3`);
  expect(await read()).toEqual(["queued_scans  0", seconds]);
});

it("[B1.7] finds the devices of an event that were heard of lately, the latest first", async () => {
  await db.run(sql`delete from device_contact`);
  await db.run(sql`delete from credential`);
  await db.run(sql`
    insert into credential (organizer, kind, id, revision, name, permissions, all_events, events, active, device)
    select number.organizer, 'device', number.id::text, 1, 'North', '{}', number.id <> 2, array[number.event],
           number.id <> 4, '{"gate": 5}'
      from (values ('bigevents', 1, ''), ('bigevents', 2, 'other'), ('bigevents', 3, ''), ('bigevents', 4, ''),
                   ('rivals', 6, '')) as number (organizer, id, event)`);
  const now = systemClock.now();
  const second = 1_000_000;
  await storeContacts(db, [
    heard({ device: 1, seenAt: now - second, queue: 4, battery: 70 }),
    heard({ device: 2, seenAt: now }),
    heard({ device: 3, seenAt: now - 13 * 3600 * second }),
    heard({ device: 4, seenAt: now }),
    heard({ organizer: "rivals", device: 6, seenAt: now }),
  ]);
  const first = { device: 1, name: "North", gate: 5, seenAt: now - second, syncedAt: null, queue: 4, battery: 70 };
  const find = (event: string) => findHeardDevices(db, { organizer: "bigevents", event });
  expect(await find("sampleconf")).toEqual([first]);
  expect(await find("other")).toMatchObject([{ device: 2 }, first]);
  // Reports name devices, also those that were not heard of for long.
  const names = await findDeviceNames(db, { organizer: "bigevents", ids: [1, 3, 6, 99] });
  expect([...names.keys()].sort()).toEqual([1, 3]);
  expect(names.get(1)).toBe("North");
});
