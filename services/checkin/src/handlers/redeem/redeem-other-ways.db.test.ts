import { sql } from "@tessera/kit/pg/sql";
import { PositionChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { AnswersGiven } from "@tessera/protos/gen/ticketing/checkin/v1/facts";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { questionDocument } from "@tessera/testkit/question-document";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  blockedSecretFact,
  eventFact,
  itemFact,
  mediumFact,
  minute,
  noon,
  place,
  positionFact,
  questionFact,
  revokedSecretFact,
  subeventFact,
} from "../../testing/facts.ts";
import { inWord, type RunningCheckin, scan, startCheckin } from "../../testing/start-checkin.ts";

let database: TestDatabase;
let checkin: RunningCheckin;
let list: number;

beforeAll(async () => {
  database = await createTestDatabase([
    { schema: "checkin", migrations: new URL("../../../migrations/", import.meta.url) },
  ]);
  checkin = await startCheckin(database.open("checkin"));
});
afterAll(() => database.drop());
beforeEach(async () => {
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact()]);
  await checkin.deliver(topics.itemChanged, [itemFact(10), itemFact(11)]);
  list = (await checkin.createList()).id;
});

const stored = () =>
  checkin.db.many<{ position: number | null; reason: string | null; forced: boolean }>(
    sql`select scan.position, scan.reason, scan.forced from scan order by scan.id`,
  );

const redeem = async (...[lookup, changes]: [string, Parameters<typeof scan>[2]?]) =>
  checkin.redeem(scan(list, lookup, changes));

describe("media", () => {
  beforeEach(() => checkin.deliver(topics.positionChanged, [positionFact(1), positionFact(2, { item: 11 })]));

  const wristband = (changes: Parameters<typeof mediumFact>[1] = {}) =>
    checkin.deliver(topics.reusableMediumChanged, [
      mediumFact(1, { type: "barcode", identifier: "WRIST", ...changes }),
    ]);

  it("[C3.7] lead to their ticket, under their own type alone", async () => {
    await wristband();
    expect(inWord(await redeem("WRIST", { sourceType: "nfc_uid" }))).toBe("unknownTicket");
    expect(await redeem("WRIST")).toMatchObject({ outcome: { $case: "admitted" }, position: { position: { id: 1 } } });
    expect(inWord(await redeem("WRIST"))).toBe("already_redeemed");
  });

  it.each([
    ["switched off", { active: false }],
    ["expired", { expires: noon }],
    ["linked to nothing", { linkedPositions: [] }],
    ["another organizer's", { organizer: "others" }],
  ])("[C3.7] that are %s find no ticket", async (_what, changes) => {
    await wristband(changes);
    expect(await redeem("WRIST")).toMatchObject({ outcome: { $case: "unknownTicket", value: {} } });
    expect(await stored()).toEqual([{ position: null, reason: "invalid", forced: false }]);
  });

  it("[C3.7] that expire later lead to their ticket", async () => {
    await wristband({ expires: noon + 1 });
    expect(inWord(await redeem("WRIST"))).toBe("admitted");
  });

  it("[C3.8] of another event are unknown, with an explanation", async () => {
    await wristband({ linkedPositions: [{ event: "elsewhere", id: 1 }] });
    expect(await redeem("WRIST")).toMatchObject({
      outcome: { $case: "unknownTicket", value: { explanation: expect.stringContaining("another event") } },
    });
  });

  it("[C3.9] with tickets of several events find those of this event", async () => {
    await wristband({ linkedPositions: [1, 2].map((id) => ({ event: place.event, id })) });
    expect(inWord(await redeem("WRIST"))).toBe("ambiguous");
    const { id } = await checkin.createList({ allProducts: false, limitProducts: [11] });
    expect(await checkin.redeem(scan(id, "WRIST"))).toMatchObject({
      outcome: { $case: "admitted" },
      position: { position: { id: 2 } },
    });
  });

  it("[C3.9] find the add-ons of their ticket, too, where the list matches add-ons", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(3, { item: 11, addonTo: 1 })]);
    await wristband();
    const { id } = await checkin.createList({ allProducts: false, limitProducts: [11], addonMatch: true });
    expect(await checkin.redeem(scan(id, "WRIST"))).toMatchObject({ position: { position: { id: 3 } } });
  });
});

describe("codes that were revoked", () => {
  beforeEach(async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1)]);
    await checkin.deliver(topics.revokedSecretChanged, [
      revokedSecretFact(1, { secret: "former", position: 1 }),
      revokedSecretFact(2, { secret: "of nobody", position: 99 }),
    ]);
  });

  it("[C3.10] are refused; forced, their ticket is admitted", async () => {
    expect(await redeem("former")).toMatchObject({ position: { position: { id: 1 } } });
    expect(inWord(await redeem("former", { force: true }))).toBe("admitted");
    expect(await stored()).toEqual([
      { position: 1, reason: "revoked", forced: false },
      { position: 1, reason: null, forced: true },
    ]);
    expect(checkin.asked).toEqual([]);
  });

  it("[C3.11] are refused where their ticket is deleted", async () => {
    const outcome = await redeem("of nobody", { force: true });
    expect(inWord(outcome)).toBe("revoked");
    expect(outcome.position).toBeUndefined();
  });

  it("[C3.10] find their ticket even if it still has the code and is canceled", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(2, { canceled: true })]);
    await checkin.deliver(topics.revokedSecretChanged, [revokedSecretFact(5, { secret: "secret2", position: 2 })]);
    expect(await redeem("secret2")).toMatchObject({ position: { position: { id: 2 } } });
    expect(inWord(await redeem("secret2"))).toBe("revoked");
    expect(inWord(await redeem("secret2", { force: true }))).toBe("admitted");
  });

  it("[C3.36] show nothing of the ticket that had them", async () => {
    await checkin.deliver(topics.itemChanged, [itemFact(10, { revision: 2, checkinText: "VIP" })]);
    expect((await redeem("former")).checkinTexts).toEqual([]);
    expect((await redeem("former", { force: true })).checkinTexts).toEqual(["VIP"]);
  });

  it("[C3.10] in another event are unknown here", async () => {
    await checkin.deliver(topics.revokedSecretChanged, [
      revokedSecretFact(3, { event: "elsewhere", secret: "theirs" }),
    ]);
    expect(inWord(await redeem("theirs"))).toBe("unknownTicket");
  });
});

it("[C3.21] a ticket with a blocked code is refused until the code is unblocked", async () => {
  await checkin.deliver(topics.positionChanged, [positionFact(1)]);
  await checkin.deliver(topics.blockedSecretChanged, [blockedSecretFact(1, { secret: "secret1", blocked: true })]);
  expect(inWord(await redeem("secret1"))).toBe("blocked");
  await checkin.deliver(topics.blockedSecretChanged, [
    blockedSecretFact(1, { secret: "secret1", blocked: false, revision: 2 }),
  ]);
  expect(inWord(await redeem("secret1"))).toBe("admitted");
});

describe("rules of the list", () => {
  const oncePerDay = '{"<": [{"var": "entries_today"}, 1]}';

  it("[C3.26] see the scans of the ticket on this list", async () => {
    const { id } = await checkin.createList({ rules: oncePerDay, allowMultipleEntries: true });
    await checkin.deliver(topics.positionChanged, [positionFact(1)]);
    const scanAt = async (at: number, changes = {}) =>
      inWord(await checkin.redeem(scan(id, "secret1", { at, ...changes })));
    expect(await scanAt(noon)).toBe("admitted");
    expect(await scanAt(noon + minute)).toBe("rules");
    expect(await scanAt(noon + minute, { type: ScanType.EXIT })).toBe("admitted");
    expect(await scanAt(noon + 24 * 60 * minute)).toBe("admitted");
  });

  it("[C3.26] use the date of the ticket, else that of the event", async () => {
    await checkin.deliver(topics.eventChanged, [
      eventFact({ revision: 2, hasSubevents: true, dateFrom: noon - 60 * minute, dateAdmission: noon - minute }),
    ]);
    await checkin.deliver(topics.subeventChanged, [subeventFact(5, { dateFrom: noon + 60 * minute })]);
    await checkin.deliver(topics.positionChanged, [positionFact(1), positionFact(2, { subevent: 5 })]);
    const { id } = await checkin.createList({
      rules: '{"isAfter": [{"var": "now"}, {"buildTime": ["date_admission"]}]}',
    });
    expect(inWord(await checkin.redeem(scan(id, "secret1")))).toBe("admitted");
    expect(await checkin.redeem(scan(id, "secret2"))).toMatchObject({
      outcome: { $case: "refused", value: { reason: "rules", explanation: expect.stringContaining("14:00") } },
    });
  });
});

describe("questions", () => {
  const document = Buffer.from(questionDocument(7));
  const yes = [{ question: 7, value: "true" }];

  const publishedAnswers = async () => {
    const rows = await checkin.db.many<{ key: string; payload: Buffer }>(sql`
      select outbox.key, outbox.payload from outbox where outbox.topic = ${topics.answersGiven.name} order by outbox.id`);
    return rows.map(({ key, payload }) => ({ key, ...AnswersGiven.decode(payload) }));
  };

  beforeEach(async () => {
    await checkin.deliver(topics.questionChanged, [questionFact(7, { items: [10], document })]);
    await checkin.deliver(topics.positionChanged, [positionFact(1), positionFact(2, { item: 11 })]);
  });

  it("[C3.28, C3.35] are asked in full, and nothing is stored", async () => {
    const outcome = await redeem("secret1");
    if (outcome.outcome?.$case !== "incomplete") throw new Error(inWord(outcome));
    const [question = new Uint8Array()] = outcome.outcome.value.questions;
    expect(JSON.parse(Buffer.from(question).toString())).toEqual(JSON.parse(questionDocument(7)));
    expect(outcome.position?.position?.id).toBe(1);
    expect(await stored()).toEqual([]);
  });

  it("[C3.28] of other products, and those not asked at the gate, are not", async () => {
    expect(inWord(await redeem("secret2"))).toBe("admitted");
    await checkin.deliver(topics.questionChanged, [
      questionFact(7, { revision: 2, items: [10], document, askDuringCheckin: false }),
    ]);
    expect(inWord(await redeem("secret1"))).toBe("admitted");
  });

  it("[C3.28] that are answered once are stored, shown, published, and not asked again", async () => {
    const outcome = await redeem("secret1", { answers: yes });
    expect(inWord(outcome)).toBe("admitted");
    const answer = { question: 7, answer: "True", questionIdentifier: "Q7", options: [], optionIdentifiers: [] };
    expect(outcome.position?.position?.answers).toEqual([answer]);
    expect(await publishedAnswers()).toEqual([
      {
        key: "bigevents/sampleconf/1",
        ...place,
        position: 1,
        revision: expect.any(Number),
        answers: [{ question: 7, revision: expect.any(Number), answer }],
      },
    ]);
    const elsewhere = await checkin.createList();
    expect(inWord(await checkin.redeem(scan(elsewhere.id, "secret1")))).toBe("admitted");
    const { positions } = await checkin.positions.listPositions({
      ...place,
      list,
      page: 1,
      pageSize: 50,
      ordering: [],
      ignoreStatus: false,
      searchOnly: false,
    });
    expect(positions.map((shown) => shown.position?.answers)).toEqual([[answer], []]);
  });

  it("are not published again when the same answer is sent again", async () => {
    await redeem("secret1", { answers: yes });
    await redeem("secret1", { answers: yes });
    expect(await publishedAnswers()).toHaveLength(1);
    await redeem("secret1", { answers: [{ question: 7, value: '"true"' }] });
    expect(await publishedAnswers()).toHaveLength(1);
  });

  it("are stored where the scan is then refused", async () => {
    await redeem("secret1", { questionsSupported: false });
    expect(inWord(await redeem("secret1", { answers: yes }))).toBe("already_redeemed");
    expect(await publishedAnswers()).toHaveLength(1);
  });

  it("that are answered partly keep those answers", async () => {
    const more = Buffer.from(questionDocument(8, { type: "T", identifier: "why" }));
    await checkin.deliver(topics.questionChanged, [questionFact(8, { items: [10], document: more })]);
    expect(inWord(await redeem("secret1", { answers: yes }))).toBe("incomplete");
    expect(inWord(await redeem("secret1", { answers: [{ question: 8, value: '"So."' }] }))).toBe("admitted");
    expect((await publishedAnswers()).at(-1)).toMatchObject({ answers: [{ question: 7 }, { question: 8 }] });
  });

  it.each(['"a\\u0000b"', '"\\ud83d"', '["a\\u0000b"]', '{"\\u0000":"\\udfff"}'])(
    "[C5.3, C5.8, C5.26] that no store could hold are neither stored nor published, and a forced scan succeeds: %s",
    async (value) => {
      const text = Buffer.from(questionDocument(7, { type: "T" }));
      await checkin.deliver(topics.questionChanged, [questionFact(7, { revision: 2, items: [10], document: text })]);
      const answers = [7, 99].map((question) => ({ question, value }));
      expect(inWord(await redeem("secret1", { answers }))).toBe("incomplete");
      const outcome = await redeem("secret1", { answers, force: true, questionsSupported: false });
      expect([inWord(outcome), outcome.position?.position?.answers]).toEqual(["admitted", []]);
      expect(await stored()).toHaveLength(1);
      expect(await publishedAnswers()).toEqual([]);
    },
  );

  it("are shown as boxoffice reports them after it has applied them", async () => {
    await redeem("secret1", { answers: yes });
    const [{ revision: answersRevision } = { revision: 0 }] = await publishedAnswers();
    const changed = { question: 7, answer: "False", questionIdentifier: "Q7", options: [], optionIdentifiers: [] };
    await checkin.deliver(topics.positionChanged, [
      positionFact(1, { answers: [changed], answersRevision }, { revision: 2 }),
    ]);
    const { position: shown } = await checkin.positions.getPosition({ ...place, list, id: 1, ignoreStatus: false });
    expect(shown?.position?.answers).toEqual([changed]);
  });

  it("with an answer that names a file keep it", async () => {
    const document9 = Buffer.from(questionDocument(7, { type: "F" }));
    await checkin.deliver(topics.questionChanged, [questionFact(7, { revision: 2, items: [10], document: document9 })]);
    const upload = "0c7ae55b-3b0c-4f0e-8e0f-3a52a5d0f8f1";
    const value = JSON.stringify(`file:${upload}`);
    expect(inWord(await redeem("secret1", { answers: [{ question: 7, value }] }))).toBe("incomplete");
    const file = { upload, name: "me.png", contentType: "image/png", size: 12, sha256: "ab".repeat(32) };
    expect(inWord(await redeem("secret1", { answers: [{ question: 7, value, file }] }))).toBe("admitted");
    expect(await publishedAnswers()).toMatchObject([{ answers: [{ question: 7, answer: { file: true }, file }] }]);
  });

  it("keep all answers of twenty scans at once", async () => {
    const outcomes = await checkin.redeemAll(
      Array.from({ length: 20 }, (_, number) =>
        scan(list, "secret1", { answers: [{ question: 7, value: String(number % 2 === 0) }] }),
      ),
    );
    const words = outcomes.map(inWord);
    // "No" to a required question is no answer: those scans were asked again, or came after the yes of another.
    expect(words.filter((word) => word === "admitted")).toHaveLength(1);
    expect(words.every((word) => ["admitted", "already_redeemed", "incomplete"].includes(word))).toBe(true);
  });
});

describe("what makes one scan impossible", () => {
  it("does not concern the others, exits or those of other products", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1), positionFact(2, { item: 11 })]);
    await checkin.deliver(topics.questionChanged, [questionFact(7, { items: [10], document: Buffer.from("{}") })]);
    const scans = [scan(list, "secret1"), scan(list, "secret2"), scan(list, "secret1", { type: ScanType.EXIT })];
    expect((await checkin.redeemAll(scans)).map(inWord)).toEqual(["undecided", "admitted", "admitted"]);
  });
});

describe("a ticket that another transaction locks", () => {
  it("delays only its own scans, with answers or without", async () => {
    const document = Buffer.from(questionDocument(7));
    await checkin.deliver(topics.questionChanged, [questionFact(7, { items: [10], document })]);
    const tickets = Array.from({ length: 8 }, (_, index) => index + 1);
    await checkin.deliver(
      topics.positionChanged,
      tickets.map((id) => positionFact(id, { item: id === 1 ? 10 : 11 })),
    );
    const ended = new Set<number>();
    await checkin.db.transaction(async (tx) => {
      await tx.run(sql`select position.id from position where position.id = 1 for update`);
      const scans = tickets.map(async (id) => {
        const outcome = await redeem(`secret${id}`, { answers: [{ question: 7, value: "true" }] });
        ended.add(id);
        return inWord(outcome);
      });
      await Promise.all(scans.slice(1));
      expect(ended.has(1)).toBe(false);
      void scans[0]?.then((word) => expect(word).toBe("admitted"));
    });
    await expect.poll(() => ended.has(1)).toBe(true);
  });
});

describe("a ticket that was sold seconds ago", () => {
  const sell = (...facts: PositionChanged[]) => {
    checkin.sold = async () => facts.map((fact) => PositionChanged.encode(fact).finish());
  };

  it("[C3.16] is admitted, and stays", async () => {
    sell(positionFact(1, {}, { revision: 5 }));
    expect(inWord(await redeem("secret1"))).toBe("admitted");
    expect(inWord(await redeem("secret1"))).toBe("already_redeemed");
    expect(checkin.asked).toEqual(["secret1"]);
    await checkin.deliver(topics.positionChanged, [positionFact(1, {}, { revision: 5 })]);
    const { list: counted } = await checkin.lists.getCheckinList({ ...place, id: list });
    expect(counted).toMatchObject({ positionCount: 1, checkinCount: 1 });
  });

  it("[C3.16] is asked for once, and is unknown if boxoffice does not have it", async () => {
    expect(inWord(await redeem("nobody's"))).toBe("unknownTicket");
    expect(checkin.asked).toEqual(["nobody's"]);
    expect(await stored()).toEqual([{ position: null, reason: "invalid", forced: false }]);
  });

  it("[C3.16] is not looked for where a ticket here has the code, whatever is wrong with it", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1, { canceled: true })]);
    expect(inWord(await redeem("secret1"))).toBe("unknownTicket");
    expect(checkin.asked).toEqual([]);
  });

  it("[C3.16] is asked for again after an answer that could not be used", async () => {
    checkin.sold = async () => [Buffer.from("no fact")];
    expect(inWord(await redeem("secret1"))).toBe("unknownTicket");
    sell(positionFact(1));
    expect(inWord(await redeem("secret1"))).toBe("admitted");
  });

  it("[C3.16] is unknown if boxoffice does not answer, and then boxoffice is not asked for a while", async () => {
    checkin.sold = () => new Promise(() => {});
    const from = performance.now();
    expect(inWord(await redeem("secret1"))).toBe("unknownTicket");
    expect(performance.now() - from).toBeLessThan(1500);
    expect(inWord(await redeem("secret1"))).toBe("unknownTicket");
    expect(checkin.asked).toHaveLength(1);
  });
});

describe("[C3.37] what a scan asks to see", () => {
  it("comes with it", async () => {
    const document = Buffer.from('{"name": {"en": "Ticket"}}');
    await checkin.deliver(
      topics.itemChanged,
      [10, 11].map((id) => itemFact(id, { revision: 2, document })),
    );
    await checkin.deliver(topics.positionChanged, [positionFact(1), positionFact(2, { addonTo: 1, item: 11 })]);
    const expand = { subevent: false, item: true, variation: false, answersQuestion: false, addons: true };
    const outcome = await redeem("secret1", { expand });
    expect(outcome.documents?.items.map(({ id }) => id).sort()).toEqual([10, 11]);
    expect(outcome.position?.addons.map((addon) => addon.position?.id)).toEqual([2]);
  });
});
