import { randomUUID } from "node:crypto";
import { sql } from "@tessera/kit/pg/sql";
import { PersonalData, Shredding } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { finishWork } from "@tessera/testkit/finish-work";
import { startForTest } from "@tessera/testkit/start-for-test";
import { beforeEach, describe, expect, it } from "vitest";
import { boxoffice } from "../index.ts";
import { boxOfficeOn } from "../testing/box-office.ts";
import { boxofficeDatabase } from "../testing/database.ts";
import { answersFact, given } from "../testing/given-at-gate.ts";
import { position, record, sample, type TestRecord } from "../testing/records.ts";

const start = () => startForTest(boxoffice, { db });

const { db } = await boxofficeDatabase();
const office = boxOfficeOn(db);
const service = await start();
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
  return (await service.connect(PersonalData).closeEvent(request)).problem;
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

  it("[D2.5] is not closed while the file of an answer of a gate is still to be copied, nor as it was exported then", async () => {
    await take(sample.question({ id: 1, type: "F" }));
    const before = await versionNow();
    await service.deliver(topics.answersGiven, [answersFact([given(1, 7, "a file", { upload: randomUUID() })])]);
    const version = await versionNow();
    expect(await close({ version: before, kinds: ["question_answers"] })).toMatch(/has changed.*Export it again/);
    expect(await close({ version, kinds: ["question_answers"] })).toMatch(/has changed.*Export it again/);
    // The upload was lost, so no file is awaited any more.
    await finishWork(db, service.workers);
    expect(await close({ version, kinds: ["question_answers"] })).toMatch(/has changed/);
    expect(await close({ kinds: ["question_answers"] })).toBeUndefined();
  });

  it("[D2.5] is closed to other kinds while a file is still to be copied", async () => {
    await take(sample.question({ id: 1, type: "F" }));
    await service.deliver(topics.answersGiven, [answersFact([given(1, 7, "a file", { upload: randomUUID() })])]);
    expect(await close()).toBeUndefined();
  });

  it("[D4.9] is closed once for each case, which is answered the same again", async () => {
    const version = await versionNow();
    const id = randomUUID();
    expect(await close({ case: id, version })).toBeUndefined();
    await take(sample.event({ date_from: past, live: true }));
    expect(await close({ case: id, version })).toBeUndefined();
    await take(sample.event({ date_from: past }));
    // The first erasure has changed the event: older exports are outdated.
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
    () => take(sample.category()),
    () => take(sample.category({ name: { en: "Passes" } })),
    () => take(sample.taxRule()),
    () => take(sample.seat()),
    () => take(sample.revokedSecret()),
    () => take(sample.blockedSecret()),
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

describe("the ends of events", () => {
  const shredding = () => service.connect(Shredding);
  const at = (text: string) => Date.parse(text) * 1000;
  const event = (slug: string, data: object) => ({ ...sample.event({ slug, ...data }), event: slug });
  const date = (id: number, data: object) => ({ ...sample.subevent({ id, ...data }), event: "series" });

  it("[D9.4] are those of the last dates, with time zones, and what keeps them from being erased", async () => {
    await take(
      sample.event({ date_from: past, date_to: "2020-07-02T18:00:00.5Z", timezone: "Europe/Berlin" }),
      event("future", { date_from: future }),
      event("live", { date_from: past, live: true }),
      event("nothing", { date_from: past, has_subevents: true }),
      event("series", { date_from: "2019-01-01T00:00:00Z", has_subevents: true }),
      date(1, { date_from: past }),
      date(2, { date_from: "2020-08-01T18:00:00Z", date_to: "2020-08-03T18:00:00Z" }),
    );
    const list = (before: string) => shredding().listEnding({ organizer: "org", before: at(before), after: "" });
    const ending = (text: string, timeZone = "UTC") => ({ at: at(text), timeZone });
    expect(await list("2021-01-01T00:00:00Z")).toEqual({
      events: [
        { event: "fest", ending: { ...ending(past, "Europe/Berlin"), at: at("2020-07-02T18:00:00.5Z") } },
        { event: "live", ending: ending(past), problem: expect.stringContaining("offline") },
        { event: "series", ending: ending("2020-08-03T18:00:00Z") },
      ],
      next: "",
    });
    expect((await list("2020-08-03T18:00:00Z")).events.map((each) => each.event)).toEqual(["fest", "live"]);
    expect((await shredding().listEnding({ organizer: "another", before: at(future), after: "" })).events).toEqual([]);
    const readiness = (name: string) => shredding().findReadiness({ organizer: "org", event: name });
    expect(await readiness("series")).toEqual({ ending: ending("2020-08-03T18:00:00Z") });
    expect(await readiness("future")).toMatchObject({
      problem: expect.stringContaining("over"),
      ending: ending(future),
    });
    expect((await readiness("nothing")).ending).toBeUndefined();
  });

  it("[D9.4] are read page by page, whether they are shown or not", async () => {
    await db.run(sql`
      insert into event (organizer, slug, data, settings, revision)
      select event.organizer, 'e' || number,
             event.data || jsonb_build_object('date_from', case when number % 2 = 0 then ${past} else ${future} end), '{}', 1
        from event
       cross join generate_series(100, 599) as number`);
    const seen: string[] = [];
    let pages = 0;
    for (let after: string | undefined = ""; after !== undefined; pages += 1) {
      const { events, next }: { events: { event: string }[]; next: string } = await shredding().listEnding({
        ...{ organizer: "org", before: at("2021-01-01T00:00:00Z"), after },
      });
      expect(events.length).toBeLessThan(200);
      seen.push(...events.map((each) => each.event));
      after = next === "" ? undefined : next;
    }
    expect([pages, seen.length, new Set(seen).size]).toEqual([3, 251, 251]);
  });
});
