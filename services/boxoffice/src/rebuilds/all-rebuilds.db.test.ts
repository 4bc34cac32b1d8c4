import { memoryBus } from "@tessera/engines/memory-bus";
import { type Rebuild, rebuildTopics } from "@tessera/kit/bus/rebuild-topics";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { emptyTables } from "@tessera/testkit/empty-tables";
import { beforeEach, describe, expect, it } from "vitest";
import { boxOfficeOn } from "../testing/box-office.ts";
import { boxofficeDatabase } from "../testing/database.ts";
import { type PublishedFact, takeFacts } from "../testing/facts.ts";
import { position, record, sample, type TestRecord } from "../testing/records.ts";
import { rebuilds } from "./all-rebuilds.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });

const { db } = await boxofficeDatabase();
const office = boxOfficeOn(db);
beforeEach(() => emptyTables(db));

/** Rebuilds topics as an operator would. */
async function rebuild(wanted: readonly Rebuild[] = rebuilds): Promise<void> {
  for (const { topic } of wanted) await db.run(sql`insert into rebuild (topic) values (${topic.name})`);
  const job = rebuildTopics({ db, bus: memoryBus([]), rebuilds, log, batchSize: 3 });
  const { signal } = new AbortController();
  await job.run(signal);
  expect(await db.many(sql`select topic, cause from rebuild where finished_at is null or cause is not null`)).toEqual(
    [],
  );
}

const line = async (topic: string) =>
  (
    await db.one<{ line: number }>(
      sql`select line from rebuild where topic = ${topic} order by requested_at desc limit 1`,
    )
  ).line;

/** Facts by topic and key, without markers. */
const byKey = (facts: readonly PublishedFact[]) =>
  new Map(facts.filter(({ key }) => key !== "rebuild").map((fact) => [`${fact.topic} ${fact.key}`, fact]));

const revisionOf = (fact: PublishedFact | undefined) => Number(fact?.value?.["revision"]);
const content = ({ value, ...rest }: PublishedFact) => ({ ...rest, value: { ...value, revision: 0 } });

/** Facts of every topic, in two organizers and several events. */
function everything(): TestRecord[] {
  const checkins = [{ id: 5, list: 1, datetime: "2026-01-01T10:00:00.123456Z", type: "entry" }];
  const variations = [{ id: 7, value: { en: "Small", "de-informal": "Klein" }, position: 2, checkin_text: "Hallo" }];
  const inEvent = (event: string, records: readonly TestRecord[]) => records.map((each) => ({ ...each, event }));
  return [
    sample.organizer(),
    sample.salesChannel(),
    sample.gate({ id: 3, name: "Nørd" }),
    sample.apiKey({ permissions: ["can_view_orders"], all_events: true }),
    sample.device({ gate: 3, security_profile: "nobody knows it" }),
    sample.device({ device_id: 2, token: null, revoked: true }),
    ...["fest", "series", "other"].map((slug) => ({
      ...sample.event({ slug, has_subevents: slug === "series", name: { en: `Event ${slug}`, de: "Veranstaltung" } }),
      event: slug,
    })),
    record("event_settings", { locale: "de", timezone: "Europe/Berlin", ticket_download_addons: true }),
    ...inEvent("series", [sample.subevent({ date_from: "2026-10-25T02:30:00.000001+02:00", active: false })]),
    ...inEvent("series", [sample.item()]),
    sample.taxRule(),
    sample.category({ position: -4 }),
    sample.item({ category: 1, tax_rule: 1, default_price: "23.5", internal_name: "Intern" }),
    sample.question({ type: "M", items: [1], options: [{ id: 5, answer: { en: "Green" } }], valid_number_max: "3" }),
    sample.seat({ product: 1, row_name: "7" }),
    sample.quota({ size: 7 }),
    sample.item({ id: 2, variations, available_from: "2026-01-01T00:00:00+05:45" }),
    sample.quota({ id: 2, items: [1, 2], variations: [7] }),
    sample.order({
      positions: [
        position({ attendee_name: "Zoë 🎟", checkins, answers: [{ question: 1, answer: "Green", options: [5] }] }),
        position({ id: 2, positionid: 2, secret: "b", seat: "stalls-1-1", voucher: 7, voucher_budget_use: "2.50" }),
      ],
    }),
    sample.revokedSecret({ position: 2 }),
    sample.blockedSecret({ blocked: false }),
    sample.medium({ linked_orderpositions: [2, { id: 1, event: "fest" }], expires: "2030-01-01T00:00:00.000001Z" }),
    ...inEvent("series", [sample.order({ code: "SERIE", positions: [position({ id: 9, subevent: 1, secret: "c" })] })]),
  ];
}

describe("a rebuild", () => {
  it("tells of every entity what was told of it last, under a newer revision", async () => {
    expect(await office.apply(...everything())).toEqual({});
    const told = byKey(await takeFacts(db));
    await rebuild();
    const again = byKey(await takeFacts(db));
    expect([...again.keys()].sort()).toEqual([...told.keys()].sort());
    expect(new Set([...again.values()].map(({ topic }) => topic)).size).toBe(rebuilds.length);
    for (const [key, fact] of again) {
      expect(content(fact)).toEqual(content(told.get(key) ?? fact));
      expect(revisionOf(fact)).toBeGreaterThan(await line(`boxoffice.${fact.topic}.v1`));
      expect(revisionOf(told.get(key))).toBeLessThan(await line(`boxoffice.${fact.topic}.v1`));
    }
  });

  it("says nothing of what is gone, and leaves what comes later newer", async () => {
    await office.apply(...everything());
    await office.apply(record("order", { code: "ABCDE" }, { deleted: true }));
    await takeFacts(db);
    await rebuild();
    const again = byKey(await takeFacts(db));
    expect([...again.keys()].filter((key) => key.startsWith("position"))).toEqual(["position-changed org/series/9"]);
    await office.apply(sample.category({ position: 5 }));
    const [changed] = await takeFacts(db);
    expect(revisionOf(changed)).toBeGreaterThan(revisionOf(again.get("category-changed org/fest/1")));
  });

  it("gives newer revisions than any before it, also where a backup has put the sequence back", async () => {
    await office.apply(...everything());
    await rebuild();
    const first = byKey(await takeFacts(db));
    await db.one(sql`select setval('revision_seq', 50)`);
    await rebuild();
    const second = byKey(await takeFacts(db));
    for (const [key, fact] of second) expect(revisionOf(fact)).toBeGreaterThan(revisionOf(first.get(key)));
  });

  it("does not move the sequence back where it is ahead of the clock", async () => {
    await office.apply(...everything());
    const ahead = Date.UTC(2200, 0) * 1000;
    await db.one(sql`select setval('revision_seq', ${ahead})`);
    await takeFacts(db);
    await rebuild();
    for (const fact of byKey(await takeFacts(db)).values()) expect(revisionOf(fact)).toBeGreaterThan(ahead);
    await db.one(sql`select setval('revision_seq', 1)`);
  });

  it("is given up where a document is not accepted any more, and names it", async () => {
    await office.apply(...everything());
    await db.run(sql`update category set data = '{"id": "none"}'`);
    await db.run(sql`insert into rebuild (topic) values ('boxoffice.category-changed.v1')`);
    await rebuildTopics({ db, bus: memoryBus([]), rebuilds, log }).run(new AbortController().signal);
    const { cause } = await db.one<{ cause: string }>(sql`select cause from rebuild`);
    expect(cause).toContain("category 1 of org/fest is not accepted any more");
  });
});

it("facts of one key keep the order of their changes while topics are rebuilt", async () => {
  await office.apply(...everything());
  let writing = true;
  const writers = ["fest", "other"].map(async (event, writer) => {
    const offices = boxOfficeOn(db);
    for (let round = 0; writing; round += 1) {
      const id = 1 + (round % 5);
      const records = [
        { ...sample.category({ id, position: round }), event },
        { ...sample.item({ id: 50 + id, position: round }), event },
        record("category", { id: 1 + ((round + 2) % 5) }, { deleted: round % 3 === 0, event }),
        {
          ...sample.order({
            code: `O${id}`,
            positions: [position({ id: 100 * writer + 200 + id, item: 50 + id, attendee_name: `${round}` })],
          }),
          event,
        },
        sample.device({ name: `${event} ${round}` }),
        { ...record("event_settings", { locale: round % 2 === 0 ? "de" : "en" }), event },
      ];
      // The removal of an entity that is used or missing is refused.
      await offices.apply(...records.filter(({ deleted }) => deleted !== false || round % 4 !== 0));
    }
  });
  for (let round = 0; round < 3; round += 1) await rebuild();
  writing = false;
  await Promise.all(writers);
  const published = await takeFacts(db);
  const revisions = new Map<string, number>();
  let facts = 0;
  for (const fact of published) {
    if (fact.key === "rebuild" || fact.value === null) continue;
    const key = `${fact.topic} ${fact.key}`;
    expect(revisionOf(fact), key).toBeGreaterThan(revisions.get(key) ?? 0);
    revisions.set(key, revisionOf(fact));
    facts += 1;
  }
  expect(facts).toBeGreaterThan(200);
  const last = byKey(published);
  await rebuild();
  const now = byKey(await takeFacts(db));
  const present = [...last].filter(([, { value }]) => value !== null);
  expect([...now.keys()].sort()).toEqual(present.map(([key]) => key).sort());
  for (const [key, fact] of present) expect(content(fact)).toEqual(content(now.get(key) ?? fact));
});
