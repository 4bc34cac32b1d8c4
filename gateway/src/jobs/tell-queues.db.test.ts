import { Fault } from "@tessera/kit/fault";
import { sql } from "@tessera/kit/pg/sql";
import type { NoteQueuesRequest } from "@tessera/protos/gen/ticketing/checkin/v1/alarms";
import { afterAll, beforeEach, expect, it } from "vitest";
import { gatewayDatabase } from "../testing/database.ts";
import { tellQueues } from "./tell-queues.ts";

const { database, db } = await gatewayDatabase();
afterAll(() => database.drop());

let told: NoteQueuesRequest[];
beforeEach(async () => {
  told = [];
  await db.run(sql`delete from device_contact`);
  await db.run(sql`delete from credential`);
});

async function hear(
  device: number,
  queue: number | null,
  {
    secondsAgo = 0,
    events = null,
    active = true,
  }: { secondsAgo?: number; events?: string[] | null; active?: boolean } = {},
): Promise<void> {
  await db.run(sql`
    insert into credential (organizer, kind, id, revision, name, permissions, all_events, events, active, device)
    values ('bigevents', 'device', ${String(device)}, 1, '', '{}', ${events === null}, ${events ?? []}, ${active}, '{}')`);
  await db.run(sql`
    insert into device_contact (organizer, device, seen_at, queue)
    values ('bigevents', ${device}, now() - make_interval(secs => ${secondsAgo}), ${queue})`);
}

const note = async (request: NoteQueuesRequest) => {
  told.push(request);
  return {};
};
const run = (noteQueues: (request: NoteQueuesRequest) => Promise<object> = note) =>
  tellQueues({ db, alarms: { noteQueues } }).run(new AbortController().signal);

it("[B4.5] tells of all devices with scans to upload that said so within five minutes, and the events that they are for", async () => {
  await hear(1, 4);
  await hear(2, 70, { secondsAgo: 280, events: ["one", "two"] });
  await hear(3, 0);
  await hear(4, null);
  await hear(5, 9, { secondsAgo: 310 });
  await hear(6, 9, { active: false });
  await run();
  expect(told).toEqual([
    {
      devices: [
        { organizer: "bigevents", device: 2, queue: 70, events: { slugs: ["one", "two"] } },
        { organizer: "bigevents", device: 1, queue: 4 },
      ],
    },
  ]);
});

it("[B4.5] tells also that there are none any more, and tells it later where checkin is away", async () => {
  await run(() => Promise.reject(new Fault("unavailable", "peer_unavailable", "away")));
  await run();
  expect(told).toEqual([{ devices: [] }]);
  await expect(run(() => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
});
