import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { beforeEach, expect, it } from "vitest";
import { checkinDatabase } from "../testing/database.ts";
import { blockedSecretFact, eventFact, itemFact, noon, place, positionFact, questionFact } from "../testing/facts.ts";
import { inWord, listFields, scan, startCheckin } from "../testing/start-checkin.ts";
import { readForScans } from "./scan-reads.ts";

const { database, db } = await checkinDatabase();
const checkin = await startCheckin(db);
beforeEach(async () => {
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact()]);
  await checkin.deliver(topics.positionChanged, [positionFact(1), positionFact(2)]);
});

it("[C3.46] only the read does without waiting for the disk, and each scan gets a number of its own", async () => {
  const list = (await checkin.createList()).id;
  const db = database.open("checkin");
  const setting = () =>
    db.one<{ setting: string; pid: number }>(
      sql`select current_setting('synchronous_commit') as setting, pg_backend_pid() as pid`,
    );
  const before = await setting();
  const lookup = { ...place, list, code: null, nonce: null };
  const reads = await readForScans(
    db,
    [1, 2, 1].map((ticketId) => ({ ...lookup, ticketId })),
  );
  expect(await setting()).toEqual({ ...before, setting: "on" });
  expect(reads.map((read) => read?.tickets.map(({ item }) => item !== undefined))).toEqual([[true], [true], [true]]);
  expect(new Set(reads.map((read) => read?.scanId)).size).toBe(3);
});

it("reads of a ticket's history what is shown, and of what only rules look at no more than they need", async () => {
  const rules = '{"<": [{"var": "entries_number"}, 1000]}';
  const list = (await checkin.createList({ rules, allowMultipleEntries: true })).id;
  for (let number = 1; number <= 130; number += 1)
    expect(inWord(await checkin.redeem(scan(list, "secret1", { nonce: `n${number}` })))).toBe("admitted");
  const stored = await checkin.db.many<{ id: number; at: number }>(
    sql`select scan.id, scan.at from scan order by scan.id desc`,
  );
  const [read] = await readForScans(checkin.db, [{ ...place, list, code: null, nonce: null, ticketId: 1 }]);
  const [ticket] = read?.tickets ?? [];
  const shown = stored.slice(0, 100).map(({ id, at }) => ({ id, at, type: "entry" }));
  expect(ticket?.checkins).toMatchObject(shown);
  expect(ticket?.checkins).toHaveLength(shown.length);
  expect(ticket?.ruled).toEqual(stored.map(({ at }) => ({ at, type: "entry" })));
});

it("gives each of many scans what its own list, event and ticket say, and nothing where the event has no such list", async () => {
  const other = { ...place, event: "other" };
  await checkin.deliver(topics.eventChanged, [eventFact({ ...other, locale: "de", dateFrom: noon + 1 })]);
  await checkin.deliver(topics.itemChanged, [itemFact(10)]);
  await checkin.deliver(topics.positionChanged, [{ ...positionFact(3, { item: 11 }), ...other }]);
  await checkin.deliver(topics.questionChanged, [questionFact(1, { items: [10] }), questionFact(2, { items: [11] })]);
  await checkin.deliver(topics.blockedSecretChanged, [blockedSecretFact(1, { secret: "secret2" })]);
  const [all, some] = [
    await checkin.createList(),
    await checkin.createList({ allProducts: false, limitProducts: [10] }),
  ];
  const { list: elsewhere } = await checkin.lists.createCheckinList({
    ...other,
    fields: listFields({ name: "Elsewhere" }),
  });
  const lookup = { ...place, list: all.id, code: null, ticketId: null, nonce: null };
  const reads = await readForScans(checkin.db, [
    { ...lookup, list: 7, ticketId: 1 },
    { ...lookup, ticketId: 1 },
    { ...other, list: elsewhere?.id ?? 0, code: "secret3", ticketId: null, nonce: "n" },
    { ...lookup, list: some.id, code: "secret2" },
    { ...lookup, code: "secret3" },
    { ...lookup, list: 7, ticketId: 2 },
    { ...lookup, code: "secret2" },
  ]);
  expect(
    reads.map((read) => read && [read.list.name, read.list.limitProducts, read.locale, read.tickets.length]),
  ).toEqual([
    undefined,
    ["Entrance", [], "en", 1],
    ["Elsewhere", [], "de", 1],
    ["Entrance", [10], "en", 1],
    ["Entrance", [], "en", 0],
    undefined,
    ["Entrance", [], "en", 1],
  ]);
  const tickets = reads.map((read) => read?.tickets[0]);
  expect(tickets.map((ticket) => ticket?.dates.from)).toEqual([
    undefined,
    noon,
    noon + 1,
    noon,
    undefined,
    undefined,
    noon,
  ]);
  expect(tickets.map((ticket) => ticket?.questions.map((text) => (JSON.parse(text) as { id: number }).id))).toEqual([
    undefined,
    [1],
    [],
    [1],
    undefined,
    undefined,
    [1],
  ]);
  expect(tickets.map((ticket) => ticket?.hasBlockedCode)).toEqual([
    undefined,
    false,
    false,
    true,
    undefined,
    undefined,
    true,
  ]);
});
