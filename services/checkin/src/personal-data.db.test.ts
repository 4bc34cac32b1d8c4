import { randomUUID } from "node:crypto";
import { runInContext } from "@tessera/kit/context";
import { sql } from "@tessera/kit/pg/sql";
import { ErasureState } from "@tessera/protos/gen/platform/v1/personal_data";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { PersonalData } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { databaseTime } from "@tessera/testkit/database-time";
import { erase, findErased } from "@tessera/testkit/erase";
import { finishWork } from "@tessera/testkit/finish-work";
import { questionDocument } from "@tessera/testkit/question-document";
import { beforeEach, describe, expect, it } from "vitest";
import type { EventKey } from "./store/keys.ts";
import { checkinDatabase } from "./testing/database.ts";
import { eventFact, itemFact, order, place, positionFact, questionFact } from "./testing/facts.ts";
import { inWord, listFields, scan, startCheckin } from "./testing/start-checkin.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
const elsewhere: EventKey = { organizer: place.organizer, event: "afterparty" };
const others: EventKey = { organizer: "others", event: place.event };
const places: readonly EventKey[] = [place, elsewhere, others];
let lists: Map<string, number>;

const listOf = ({ organizer, event }: EventKey) => lists.get(`${organizer}/${event}`) ?? 0;
const answers = [{ question: 1, value: '"vegan"', file: undefined }];

beforeEach(async () => {
  await checkin.reset();
  lists = new Map();
  for (const at of places) {
    await checkin.deliver(topics.eventChanged, [eventFact(at)]);
    await checkin.deliver(topics.itemChanged, [{ ...itemFact(10), ...at }]);
    const document = Buffer.from(questionDocument(1, { type: "T", required: false }));
    await checkin.deliver(topics.questionChanged, [{ ...questionFact(1, { items: [10], document }), ...at }]);
    const tickets = [1, 2, 3].map((id) => ({ ...positionFact(id, { secret: `secret${id}` }), ...at }));
    await checkin.deliver(topics.positionChanged, tickets);
    const { list } = await checkin.lists.createCheckinList({ ...at, fields: listFields() });
    lists.set(`${at.organizer}/${at.event}`, list?.id ?? 0);
  }
});

async function scanEverywhere(): Promise<void> {
  for (const at of places) {
    const list = listOf(at);
    for (const id of [1, 2])
      expect(inWord(await checkin.redeem(scan(list, `secret${id}`, { ...at, answers, nonce: `n${id}` })))).toBe(
        "admitted",
      );
    expect(inWord(await checkin.redeem(scan(list, "P<UTOERIKSSON<<ANNA", { ...at })))).toBe("unknownTicket");
    await report(at, "CARD-OF-ERIKSSON");
  }
}

function report(at: EventKey, rawCode: string, nonce?: string) {
  const said = { reason: "error", explanation: "Ms Eriksson was rude" };
  const refused = { ...said, rawCode, sourceType: "barcode", type: ScanType.ENTRY, nonce };
  return checkin.history.recordFailedScan({ ...at, list: listOf(at), scan: refused });
}

/** What is stored of an event. */
async function stored({ organizer, event }: EventKey) {
  const of = sql`organizer = ${organizer} and event = ${event}`;
  const { answers: given } = await checkin.db.one<{ answers: number }>(
    sql`select count(*) as answers from given_answer where ${of}`,
  );
  const scans = await checkin.db.many<{ rawCode: string | null; explanation: string | null }>(
    sql`select raw_code as "rawCode", explanation from scan where ${of} order by id`,
  );
  return {
    given,
    codes: scans.map(({ rawCode }) => rawCode),
    words: scans.flatMap(({ explanation }) => explanation ?? []),
  };
}

const tombstones = async () => {
  const rows = await checkin.db.many<{ key: string }>(
    sql`select key from outbox where topic = ${topics.answersGiven.name} and payload is null and marker is null order by id`,
  );
  return rows.map(({ key }) => key);
};

describe("an erasure at check-in", () => {
  it("[D3.4] deletes the answers that gates asked for, publishes that, and leaves other events and other kinds alone", async () => {
    await scanEverywhere();
    const before = await Promise.all(places.map(stored));
    expect(before[0]).toEqual({
      given: 2,
      codes: ["secret1", "secret2", "P<UTOERIKSSON<<ANNA", "CARD-OF-ERIKSSON"],
      words: ["Ms Eriksson was rude"],
    });
    const erased = await erase(checkin, place, { kinds: ["question_answers"] });
    expect(erased).toMatchObject({
      state: ErasureState.DONE,
      left: {},
      parts: { "question_answers given_answer.state": 2 },
    });
    expect(await stored(place)).toEqual({ ...before[0], given: 0 });
    expect(await Promise.all([elsewhere, others].map(stored))).toEqual(before.slice(1));
    expect(await tombstones()).toEqual(["bigevents/sampleconf/1", "bigevents/sampleconf/2"]);
  });

  it("[D3.5] empties what was scanned and typed at gates, and the answers to reports of it", async () => {
    const requestId = randomUUID();
    await scanEverywhere();
    await runInContext({ requestId }, () => report(place, "ANOTHER CARD"));
    const before = await Promise.all(places.map(stored));
    expect(await erase(checkin, place, { kinds: ["attendee_info"] })).toMatchObject({
      state: ErasureState.DONE,
      parts: {
        "attendee_info scan.raw_code": 5,
        "attendee_info scan.explanation": 2,
        "attendee_info answered_request.response": 1,
      },
    });
    expect(await stored(place)).toEqual({ given: 2, codes: [null, null, null, null, null], words: [] });
    expect(await Promise.all([elsewhere, others].map(stored))).toEqual(before.slice(1));
    const { scans } = await checkin.history.listScans({
      ...{ ...place, page: 1, pageSize: 50, ordering: [], type: ScanType.UNSPECIFIED },
    });
    expect(scans).toHaveLength(5);
    expect(JSON.stringify(scans)).not.toContain("Eriksson");
    await expect(runInContext({ requestId }, () => report(place, "ANOTHER CARD"))).rejects.toMatchObject({
      code: "answer_erased",
    });
  });

  it("[D3.5, F3.11] empties what was found out about doubles, and keeps no text of it from then on", async () => {
    const hourAgo = Date.now() * 1000 - 3_600_000_000;
    const explain = async (at: EventKey, text: string) => {
      const page = { filter: {}, page: 1, pageSize: 50, ordering: [] };
      const { doubles } = await checkin.doubles.listDoubles({ ...at, ...page });
      const id = doubles[0]?.scan?.checkin?.id ?? 0;
      const requestId = randomUUID();
      const call = { ...at, id, text, by: "Ann" };
      const { double } = await runInContext({ requestId }, () => checkin.doubles.explainDouble(call));
      return double?.note;
    };
    for (const at of places) {
      for (const deviceId of [1, 2])
        await checkin.redeem(scan(listOf(at), "secret1", { ...at, deviceId, at: hourAgo + deviceId, force: true }));
      expect(await explain(at, "Ms Eriksson lent it")).toMatchObject({ text: "Ms Eriksson lent it" });
    }
    const { version } = await checkin.connect(PersonalData).describeEvent(place);
    await explain(place, "Ms Eriksson lost it");
    expect((await checkin.connect(PersonalData).describeEvent(place)).version).not.toBe(version);
    expect(await erase(checkin, place, { kinds: ["attendee_info"] })).toMatchObject({
      state: ErasureState.DONE,
      parts: { "attendee_info double_note.explanation": 1, "attendee_info answered_request.response": 2 },
    });
    expect(await explain(place, "Ms Eriksson found it")).toEqual({ by: "Ann", at: expect.any(Number) });
    const texts = await checkin.db.many(sql`
      select organizer, event, explanation from double_note order by organizer, event`);
    expect(texts).toEqual([
      { ...elsewhere, explanation: "Ms Eriksson lent it" },
      { ...place, explanation: null },
      { ...others, explanation: "Ms Eriksson lent it" },
    ]);
    const answers = await checkin.db.many<{ response: Buffer | null }>(sql`
      select response from answered_request where organizer = ${place.organizer} and event = ${place.event}`);
    expect(answers.map(({ response }) => response)).toEqual([null, null, null]);
  });

  it("[D3.6] says that copies of tickets hold something until boxoffice has published them without it", async () => {
    const email = { attendeeEmail: "anna@example.org", order: order({ email: "anna@example.org" }) };
    await checkin.deliver(topics.positionChanged, [positionFact(1, email, { revision: 2 })]);
    const erased = await erase(checkin, place, { kinds: ["attendee_info", "order_emails", "phone_numbers"] });
    expect(erased).toMatchObject({
      state: ErasureState.DONE,
      parts: {},
      left: { "attendee_info position": 3, "order_emails position": 1 },
    });
    const nameless = { attendeeName: undefined, attendeeNameParts: {} };
    await checkin.deliver(
      topics.positionChanged,
      [1, 2, 3].map((id) => positionFact(id, nameless, { revision: 3 })),
    );
    expect((await findErased(checkin, { ...place, case: erased.case })).left).toEqual({});
    // The event goes on, and a visitor orders.
    const later = { ...order({ email: "new@example.org" }), placedAt: Date.parse("2099-01-01T00:00:00Z") * 1000 };
    await checkin.deliver(topics.positionChanged, [positionFact(4, { order: later }, { revision: 3 })]);
    expect((await findErased(checkin, { ...place, case: erased.case })).left).toEqual({});
    await checkin.deliver(topics.positionChanged, [`${place.organizer}/${place.event}/4`]);
    expect(
      await checkin.db.many(sql`
        select position.id
          from position
         where position.organizer = ${place.organizer} and position.event = ${place.event}
           and num_nonnulls(position.attendee_name, position.sort_name, position.order_email, nullif(position.search_text, '')) > 0`),
    ).toEqual([]);
  });

  it("[D3.2] begins again after a crash, and counts everything once", async () => {
    await scanEverywhere();
    const request = { ...place, case: randomUUID() };
    await checkin.db.run(sql`
      create function stumble() returns trigger language plpgsql as $$
      begin
        if (select count(*) from scan where raw_code is null) > 0 then raise exception 'the process was killed'; end if;
        return null;
      end $$`);
    await checkin.db.run(
      sql`create trigger stumble after update on scan for each statement execute function stumble()`,
    );
    await checkin.deliver(topics.shredRequested, [
      { ...request, kinds: ["attendee_info", "question_answers"], again: true, fromLedger: true },
    ]);
    await finishWork(checkin.db, checkin.workers);
    const halfway = await findErased(checkin, request);
    expect(halfway).toMatchObject({ state: ErasureState.RUNNING, parts: { "question_answers given_answer.state": 2 } });
    expect((await stored(place)).codes).toContain("CARD-OF-ERIKSSON");
    await checkin.db.run(sql`drop function stumble cascade`);
    await checkin.deliver(topics.shredRequested, [
      { ...request, kinds: ["attendee_info", "question_answers"], again: true, fromLedger: true },
    ]);
    await checkin.db.run(sql`update work set due_at = now() where state = 'waiting'`);
    await finishWork(checkin.db, checkin.workers);
    expect(await findErased(checkin, request)).toMatchObject({
      state: ErasureState.DONE,
      left: { "attendee_info position": 3 },
      parts: {
        "question_answers given_answer.state": 2,
        "attendee_info scan.raw_code": 4,
        "attendee_info scan.explanation": 1,
      },
    });
  });
});

it("[D2.4, D2.6] check-in is closed as it was exported alone; what comes before the decision stays, or goes with the rest", async () => {
  const client = checkin.connect(PersonalData);
  const kinds = ["question_answers"];
  const exported = (await client.describeEvent(place)).version;
  const give = (id: number) => checkin.redeem(scan(listOf(place), `secret${id}`, { answers, nonce: `n${id}` }));
  await give(1);
  const request = { ...place, case: randomUUID(), kinds };
  expect(await client.closeEvent({ ...request, version: exported })).toEqual({
    problem: expect.stringContaining("has changed"),
  });
  await give(2);
  expect(await stored(place)).toMatchObject({ given: 2 });
  const { version } = await client.describeEvent(place);
  expect(await client.closeEvent({ ...request, version })).toEqual({ problem: undefined });
  await give(3);
  await report(place, "CARD-OF-ERIKSSON");
  const kept = {
    given: 3,
    codes: ["secret1", "secret2", "secret3", "CARD-OF-ERIKSSON"],
    words: ["Ms Eriksson was rude"],
  };
  await client.reopenEvent(request);
  expect(await stored(place)).toEqual(kept);
  expect((await client.findErasure({ ...request, withLeft: false })).state).toBe(ErasureState.UNKNOWN);

  const another = { ...place, case: randomUUID(), kinds: ["question_answers", "attendee_info"] };
  const { version: now } = await client.describeEvent(place);
  expect(await client.closeEvent({ ...another, version: now })).toEqual({ problem: undefined });
  await report(place, "CARD-OF-ERIKSSON-2");
  await checkin.deliver(topics.shredRequested, [{ ...another, again: false, fromLedger: false }]);
  const late = await checkin.redeem(scan(listOf(place), "secret1", { answers, nonce: "late" }));
  expect(inWord(late)).toBe("already_redeemed");
  await finishWork(checkin.db, checkin.workers);
  expect(await findErased(checkin, another)).toMatchObject({ state: ErasureState.DONE, left: {} });
  expect(await stored(place)).toMatchObject({ given: 0, words: [] });
  expect(new Set((await stored(place)).codes)).toEqual(new Set([null]));
});

describe("what a scanner sends after an erasure", () => {
  it("[D4.2] is stored as a scan, without its answers", async () => {
    await erase(checkin, place, { kinds: ["question_answers"] });
    await checkin.db.run(sql`delete from outbox`);
    const late = await checkin.redeem(scan(listOf(place), "secret3", { answers, nonce: "late" }));
    expect(inWord(late)).toBe("admitted");
    expect(await stored(place)).toMatchObject({ given: 0, codes: ["secret3"] });
    const published = await checkin.db.many<{ topic: string }>(sql`select topic from outbox`);
    expect(published.map(({ topic }) => topic)).toEqual([topics.scanDecided.name]);
    await checkin.redeem(scan(listOf(elsewhere), "secret3", { ...elsewhere, answers }));
    expect(await stored(elsewhere)).toMatchObject({ given: 1 });
  });

  it("[D4.2] is decided without questions, also of an order that was placed since", async () => {
    await checkin.redeem(scan(listOf(place), "secret1", { answers }));
    await erase(checkin, place, { kinds: ["question_answers"] });
    const later = { secret: "later", order: { ...order(), placedAt: Date.parse("2099-01-01T00:00:00Z") * 1000 } };
    await checkin.deliver(topics.positionChanged, [positionFact(4, later, { revision: 3 })]);
    for (const [code, outcome] of [
      ["secret1", "already_redeemed"],
      ["secret2", "admitted"],
      ["secret2", "already_redeemed"],
      ["later", "admitted"],
      ["later", "already_redeemed"],
    ] as const)
      expect([code, inWord(await checkin.redeem(scan(listOf(place), code)))]).toEqual([code, outcome]);
    expect(inWord(await checkin.redeem(scan(listOf(elsewhere), "secret1", { ...elsewhere })))).toBe("incomplete");
  });

  it("[D4.3] is stored without codes and explanations, and a refusal that comes again is still stored once", async () => {
    await erase(checkin, place, { kinds: ["attendee_info"] });
    expect(inWord(await checkin.redeem(scan(listOf(place), "P<UTOERIKSSON<<ANNA")))).toBe("unknownTicket");
    await report(place, "CARD-OF-ERIKSSON", "again");
    await report(place, "CARD-OF-ERIKSSON", "again");
    const requestId = randomUUID();
    const keyed = () => runInContext({ requestId }, () => report(place, "CARD-OF-ERIKSSON", "again"));
    await keyed();
    await expect(keyed()).rejects.toMatchObject({ code: "answer_erased" });
    expect(
      await checkin.db.many(sql`select response from answered_request where request_id = ${requestId}::uuid`),
    ).toEqual([{ response: null }]);
    expect(await stored(place)).toEqual({ given: 0, codes: [null, null], words: [] });
    await report(elsewhere, "CARD-OF-ERIKSSON");
    expect(await stored(elsewhere)).toMatchObject({ codes: ["CARD-OF-ERIKSSON"], words: ["Ms Eriksson was rude"] });
  });

  it("[D4.1] while the request arrives is erased, too", async () => {
    const writer = checkin.db;
    const began = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const slow = writer.transaction(async (tx) => {
      // Like a concurrent scan: it reads that nothing is erased yet, and stores after the erasure.
      await tx.one(sql`select count(*) as erased from erasure`);
      began.resolve();
      await goOn.promise;
      await tx.run(sql`
        insert into scan (organizer, event, id, list, type, successful, reason, raw_code, at, forced, force_sent, auto_checked_in)
        values (${place.organizer}, ${place.event}, 77, 1, 'entry', false, 'invalid', 'late code', now(), false, false, false)`);
    });
    await began.promise;
    const erasing = erase(checkin, place, { kinds: ["attendee_info"] });
    await expect.poll(() => writer.many(sql`select from work where state = 'running'`)).toHaveLength(1);
    goOn.resolve();
    await slow;
    expect((await erasing).parts).toEqual({ "attendee_info scan.raw_code": 1 });
    expect((await stored(place)).codes).toEqual([null]);
  });

  it("[D4.4] is welcome to another event with the name of a deleted one", async () => {
    await erase(checkin, place, { kinds: ["question_answers", "attendee_info"] });
    await checkin.deliver(topics.eventChanged, [`${place.organizer}/${place.event}/`], {
      at: await databaseTime(checkin.db),
    });
    await checkin.deliver(topics.eventChanged, [eventFact({ revision: 9 })]);
    const { list } = await checkin.lists.createCheckinList({ ...place, fields: listFields() });
    await checkin.redeem(scan(list?.id ?? 0, "secret1", { answers, nonce: "new" }));
    expect(await stored(place)).toMatchObject({ given: 1, codes: ["secret1"] });
  });
});

it("[D3.3] the version of an event at check-in is another one after each scan and each change of a list, and the same otherwise", async () => {
  const client = checkin.connect(PersonalData);
  const version = async () => (await client.describeEvent(place)).version;
  const seen = [await version()];
  const change = async (act: () => Promise<unknown>) => {
    await act();
    seen.push(await version());
  };
  await change(() => checkin.redeem(scan(listOf(place), "secret1", { answers })));
  await change(() => checkin.lists.deleteCheckinList({ ...place, id: listOf(place) }));
  await change(() => erase(checkin, place, { kinds: ["question_answers"] }));
  expect(new Set(seen).size).toBe(seen.length);
  await checkin.redeem(scan(listOf(elsewhere), "secret1", { ...elsewhere, answers }));
  expect(await version()).toBe(seen.at(-1));
  expect((await client.describeEvent(place)).files).toEqual([]);
});
