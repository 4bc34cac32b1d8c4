import { randomUUID } from "node:crypto";
import type { Db } from "@tessera/kit/pg/database";
import { PersonalData, Shredding } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { startForTest } from "@tessera/testkit/start-for-test";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { boxoffice } from "../index.ts";
import { type BoxOffice, boxOfficeOn } from "../testing/box-office.ts";
import { answersFact, given } from "../testing/gate.ts";
import { position, record, sample, type TestRecord } from "../testing/records.ts";

let database: TestDatabase;
let db: Db;
let office: BoxOffice;
let service: Awaited<ReturnType<typeof start>>;

const start = () => startForTest(boxoffice, { db });

beforeAll(async () => {
  database = await createTestDatabase([
    { schema: "boxoffice", migrations: new URL("../../migrations/", import.meta.url) },
  ]);
  db = database.open("boxoffice");
  office = boxOfficeOn(db);
  service = await start();
});
afterAll(() => database.drop());

const place = { organizer: "org", event: "fest" };
const past = "2020-07-01T18:00:00Z";
const future = "2099-07-01T18:00:00Z";
const order = (changes: object = {}) =>
  sample.order({ email: "a@example.org", positions: [position({ id: 1 })], ...changes });

async function take(...records: TestRecord[]): Promise<void> {
  expect(await office.apply(...records)).toEqual({});
}

beforeEach(async () => {
  await service.reset();
  await take(sample.organizer(), sample.event({ date_from: past }), sample.item(), order());
});

const versionNow = async () => (await service.connect(PersonalData).describeEvent(place)).version;
const close = async ({
  version,
  kinds = ["order_emails"],
  ...rest
}: {
  version?: string;
  kinds?: string[];
  case?: string;
  event?: string;
} = {}) => {
  const request = { ...place, case: randomUUID(), kinds, version: version ?? (await versionNow()), ...rest };
  return (await service.connect(Shredding).closeEvent(request)).problem;
};

describe("an event that is to be erased", () => {
  it("[D4.9] is closed to records that bring back what is erased, from that moment on", async () => {
    await take(order({ email: "b@example.org" }));
    expect(await close()).toBeUndefined();
    expect(await office.apply(order({ email: "c@example.org" }))).toEqual({
      1: { email: [expect.stringContaining("erased (order_emails)")] },
    });
    await take(order({ email: null, phone: "+49" }));
  });

  it("[D4.9] is not closed when it has changed since its export, is not over, is live, or is gone", async () => {
    const version = await versionNow();
    await take(order({ email: "b@example.org" }));
    expect(await close({ version })).toMatch(/has changed/);
    await take(sample.event({ date_from: past, date_to: future }));
    expect(await close()).toMatch(/is over/);
    await take(sample.event({ date_from: past, live: true }));
    expect(await close()).toMatch(/offline/);
    expect(await close({ event: "nowhere" })).toMatch(/deleted/);
    await take(order({ email: "still@example.org" }));
    await take(sample.event({ date_from: past }));
    expect(await close()).toBeUndefined();
  });

  it("[D4.9] is closed once for each case, which is answered the same again", async () => {
    const version = await versionNow();
    const id = randomUUID();
    expect(await close({ case: id, version })).toBeUndefined();
    await take(sample.event({ date_from: past, live: true }));
    expect(await close({ case: id, version })).toBeUndefined();
    await take(sample.event({ date_from: past }));
    // Its first erasure has changed it: older exports are of no use.
    expect(await close({ version })).toMatch(/has changed/);
    expect(await close()).toBeUndefined();
  });
});

it("[D3.3] the version of an event is another one after each change of what belongs to it, and the same otherwise", async () => {
  await take(
    { ...sample.event({ slug: "other", date_from: past }), event: "other" },
    { ...sample.item(), event: "other" },
  );
  const seen = [await versionNow()];
  const changes: (() => Promise<unknown>)[] = [
    () => take(sample.event({ date_from: past, name: { en: "Renamed" } })),
    () => take(order({ phone: "+49" })),
    () => take(order({ phone: "+49", positions: [position({ id: 1, attendee_name: "Ada" })] })),
    () => take(sample.question({ id: 2, type: "T" })),
    () => service.deliver(topics.answersGiven, [answersFact([given(2, 7, "meat")])]),
    () => take(sample.quota()),
    () => take(sample.item({ id: 2 })),
    () => take(record("order", { code: "ABCDE" }, { deleted: true })),
    () => close(),
  ];
  for (const change of changes) {
    await change();
    seen.push(await versionNow());
  }
  expect(new Set(seen).size).toBe(changes.length + 1);
  await take({ ...sample.item({ id: 3 }), event: "other" }, sample.item({ id: 2 }));
  expect(await versionNow()).toBe(seen.at(-1));
});
