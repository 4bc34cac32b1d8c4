import { randomUUID } from "node:crypto";
import { nothingErased } from "@tessera/kit/bus/dead-letter";
import { header } from "@tessera/kit/bus/headers";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { emptyTables } from "@tessera/testkit/empty-tables";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { boxOfficeOn } from "../testing/box-office.ts";
import { boxofficeDatabase } from "../testing/database.ts";
import { takeFacts } from "../testing/facts.ts";
import { answersFact, deliverAnswers, deliverAnswersOf, given, readPosition } from "../testing/given-at-gate.ts";
import { position, record, sample, type TestRecord } from "../testing/records.ts";
import { recount } from "../testing/recount.ts";
import { answersGiven } from "./answers-given.ts";

const { db } = await boxofficeDatabase();
const office = boxOfficeOn(db);
const questions = [1, 2, 3].map((id) => sample.question({ id, type: "T", identifier: `Q${id}` }));
beforeEach(async () => {
  await emptyTables(db);
  await take(sample.organizer(), sample.event(), sample.item(), ...questions, order());
  await takeFacts(db);
});
afterEach(() => expect(office.logged).toEqual([]));

/** Applies valid records. */
async function take(...records: TestRecord[]): Promise<void> {
  expect(await office.apply(...records)).toEqual({});
}

const red = { question: 1, answer: "red", question_identifier: "Q1" };

/** An order of two positions, the first of which has these answers. */
function order(answers: readonly object[] = [red], rest: object = {}): TestRecord {
  return sample.order({
    positions: [position({ answers, ...rest }), position({ id: 2, positionid: 2, secret: "second" })],
  });
}

/** The published state of a position: its answers by question, and the merged revision of gate answers. */
async function stands(id = 1, event = "fest"): Promise<{ answers: Record<number, string>; upTo: number | undefined }> {
  const { answers, answersRevision } = await readPosition(db, { id, event });
  return { answers: Object.fromEntries(answers.map((each) => [each.question, each.answer])), upTo: answersRevision };
}

/** The published positions since, by id. */
async function told(): Promise<[number, Position["answers"][number]["answer"][]][]> {
  return (await takeFacts(db)).map(({ topic, value }) => {
    const fact = value as { position: Position } | null;
    expect(topic).toBe("position-changed");
    return [fact?.position.id ?? 0, (fact?.position.answers ?? []).map(({ answer }) => answer)];
  });
}

describe("answers given at a gate", () => {
  it("[C5.56] in an event that was deleted are none of the visitor who has the id in the next one", async () => {
    const at = Date.now() * 1000 - 60_000_000;
    await take(record("event", { slug: "fest" }, { deleted: true }));
    await take(sample.event(), sample.item(), ...questions, order([]));
    await deliverAnswersOf(db, at, answersFact([given(2, 7, "an allergy")]));
    expect(await stands()).toEqual({ answers: {}, upTo: undefined });
    await deliverAnswers(db, answersFact([given(3, 8, "none")]));
    expect(await stands()).toEqual({ answers: { 3: "none" }, upTo: 8 });
  });

  it("[C5.50] become answers of their position, in the place of earlier ones to the same questions", async () => {
    await deliverAnswers(db, answersFact([given(3, 7, "three"), given(1, 6, "blue")]));
    expect(await stands()).toEqual({ answers: { 1: "blue", 3: "three" }, upTo: 7 });
    expect(await stands(2)).toEqual({ answers: {}, upTo: undefined });
    expect(await told()).toEqual([[1, ["blue", "three"]]]);
    const fact = answersFact([given(1, 9, "green"), given(3, 7, "three")]);
    await deliverAnswers(db, fact);
    expect(await stands()).toEqual({ answers: { 1: "green", 3: "three" }, upTo: 9 });
  });

  it("are told under revisions that rise, with all else as it was", async () => {
    const before = await db.one<{ revision: number; state: Buffer }>(
      sql`select revision, state from position where id = 1`,
    );
    await deliverAnswers(db, answersFact([given(2, 6, "two")]));
    const facts = await takeFacts(db);
    const [revision, published] = [Number(facts[0]?.value?.["revision"]), facts[0]?.value?.["position"] as Position];
    expect(facts).toHaveLength(1);
    expect(revision).toBeGreaterThan(before.revision);
    const { answers, answersRevision: _upTo, ...rest } = published;
    const { answers: former, ...as } = Position.decode(before.state);
    expect(rest).toEqual(as);
    expect(answers).toEqual([...former, given(2, 6, "two").answer]);
    expect(await db.one(sql`select revision from position where id = 1`)).toEqual({ revision });
  });

  it("[C5.52] are taken back", async () => {
    await deliverAnswers(db, answersFact([given(1, 6, "blue"), given(2, 7, "two")]));
    await deliverAnswers(db, answersFact([given(1, 8), given(2, 9)]));
    expect(await stands()).toEqual({ answers: {}, upTo: 9 });
    const kept = sql`select from gate_answer where num_nonnulls(answer, file, awaited) > 0`;
    expect(await db.many(kept)).toEqual([]);
    await take(order([]));
    expect(await stands()).toEqual({ answers: {}, upTo: 9 });
  });

  it("change nothing when they are told of again, or are older than what was taken", async () => {
    const fact = answersFact([given(1, 6, "blue"), given(2, 7, "two")]);
    await deliverAnswers(db, fact);
    await takeFacts(db);
    const before = await db.many(sql`select position.xmin::text, position.id from position order by position.id`);
    await deliverAnswers(db, fact);
    await deliverAnswers(db, { ...fact, revision: 900 });
    await deliverAnswers(db, answersFact([given(1, 5, "old"), given(2, 7, "changed")]));
    expect(await takeFacts(db)).toEqual([]);
    expect(await db.many(sql`select position.xmin::text, position.id from position order by position.id`)).toEqual(
      before,
    );
    expect(await stands()).toEqual({ answers: { 1: "blue", 2: "two" }, upTo: 7 });
  });

  it("are taken alone where others of the fact were taken before", async () => {
    await deliverAnswers(db, answersFact([given(1, 6, "blue")]));
    await take(order([{ ...red, answer: "black" }]));
    await deliverAnswers(db, answersFact([given(1, 6, "blue"), given(2, 7, "two")]));
    expect(await stands()).toEqual({ answers: { 1: "black", 2: "two" }, upTo: 7 });
  });

  it("are not swept when their topic was rebuilt: what checkin has lost stays here", async () => {
    await deliverAnswers(db, answersFact([given(1, 6, "blue")]));
    await takeFacts(db);
    const headers = {
      [header.marker]: randomUUID(),
      [header.sweepBelow]: "900",
      [header.sweepPartitions]: "1",
      [header.sweepSince]: "0",
    };
    const log = createLog({ service: "test", destination: { write: () => {} } });
    const consumer = answersGiven.open({ db, group: "boxoffice", log, isErased: nothingErased, deps: undefined });
    const marker = { topic: consumer.topic, partition: 0, key: "rebuild", value: new Uint8Array(), headers };
    await consumer.deliver([marker], new AbortController().signal);
    expect(await db.many(sql`select topic from passed_marker`)).toEqual([{ topic: consumer.topic }]);
    expect(await takeFacts(db)).toEqual([]);
    expect(await stands()).toEqual({ answers: { 1: "blue" }, upTo: 6 });
  });

  it("of positions that are gone, or of other events, change nothing", async () => {
    await take({ ...sample.event({ slug: "other" }), event: "other" });
    await takeFacts(db);
    const facts = [{ position: 99 }, { event: "other" }, { event: "nowhere" }, { organizer: "nobody" }];
    await deliverAnswers(db, ...facts.map((place) => answersFact([given(1, 6, "blue")], place)), 1, 99);
    expect(await takeFacts(db)).toEqual([]);
    expect(await stands()).toEqual({ answers: { 1: "red" }, upTo: undefined });
  });

  it("come by the hundred, of many events", async () => {
    const events = ["a", "b", "c"];
    const many = Array.from({ length: 100 }, (_, index) =>
      position({ id: index + 1, positionid: index + 1, secret: `s${index}` }),
    );
    await take(
      ...events.flatMap((slug) => [
        { ...sample.event({ slug }), event: slug },
        { ...sample.item(), event: slug },
        { ...sample.order({ positions: many }), event: slug },
      ]),
    );
    await takeFacts(db);
    const facts = events.flatMap((event, at) =>
      many.map((_, index) =>
        answersFact([given(1, 1000 * at + index + 1, `${event} ${index}`)], { event, position: index + 1 }),
      ),
    );
    await deliverAnswers(db, ...facts);
    expect(await takeFacts(db)).toHaveLength(300);
    expect(await stands(40, "b")).toEqual({ answers: { 1: "b 39" }, upTo: 1040 });
  });
});

describe("an order that is sent again", () => {
  it("[C5.51] keeps what was answered at a gate where it answers nothing, and changes nothing by it", async () => {
    await deliverAnswers(db, answersFact([given(2, 6, "two"), given(3, 7, "three")]));
    await takeFacts(db);
    await take(order());
    await take(order());
    expect(await takeFacts(db)).toEqual([]);
    expect(await stands()).toEqual({ answers: { 1: "red", 2: "two", 3: "three" }, upTo: 7 });
    await take(order([red], { attendee_name: "Zoë" }));
    expect(await told()).toEqual([[1, ["red", "two", "three"]]]);
    await take(order([]));
    expect(await stands()).toEqual({ answers: { 2: "two", 3: "three" }, upTo: 7 });
  });

  it("[C5.51] keeps it too where it answers the same question as it always has", async () => {
    await deliverAnswers(db, answersFact([given(1, 6, "blue")]));
    await takeFacts(db);
    await take(order());
    expect(await takeFacts(db)).toEqual([]);
    await take(order([red], { attendee_name: "Zoë" }));
    expect(await told()).toEqual([[1, ["blue"]]]);
  });

  it("[C5.51] replaces it where it answers the same question otherwise than before", async () => {
    await deliverAnswers(db, answersFact([given(1, 6, "blue"), given(2, 7, "two")]));
    await takeFacts(db);
    await take(order([{ ...red, answer: "black" }]));
    expect(await told()).toEqual([[1, ["black", "two"]]]);
    expect(await stands()).toEqual({ answers: { 1: "black", 2: "two" }, upTo: 7 });
    await take(order([]));
    expect(await stands()).toEqual({ answers: { 2: "two" }, upTo: 7 });
    await deliverAnswers(db, answersFact([given(1, 6, "blue"), given(2, 8, "new")]));
    expect(await stands()).toEqual({ answers: { 2: "new" }, upTo: 8 });
  });

  it("[C5.52] leaves out what was taken back where it answers as it always has", async () => {
    const two = { question: 2, answer: "two", question_identifier: "Q2" };
    await take(order([red, two]));
    await deliverAnswers(db, answersFact([given(1, 6)]));
    await takeFacts(db);
    await take(order([red, two]));
    expect(await takeFacts(db)).toEqual([]);
    await take(order([red, two], { attendee_name: "Zoë" }));
    await take(order([two, red], { attendee_name: "Zoe" }));
    expect(await told()).toEqual([
      [1, ["two"]],
      [1, ["two"]],
    ]);
    await deliverAnswers(db, answersFact([given(1, 6), given(3, 7, "three")]));
    await take(order([red, two]));
    expect(await stands()).toEqual({ answers: { 2: "two", 3: "three" }, upTo: 7 });
    await deliverAnswers(db, answersFact([given(1, 8, "blue"), given(3, 7, "three")]));
    await take(order([red, two], { attendee_name: "Zoë" }));
    expect(await stands()).toEqual({ answers: { 1: "blue", 2: "two", 3: "three" }, upTo: 8 });
  });

  it("[C5.52] leaves it out where it answers one question several times, as it always has", async () => {
    const twice = [red, { ...red, answer: "or blue" }];
    await take(order(twice));
    await deliverAnswers(db, answersFact([given(1, 6)]));
    await take(order(twice, { attendee_name: "Zoë" }));
    expect(await stands()).toEqual({ answers: {}, upTo: 6 });
  });

  it("[C5.52] brings what was taken back where it answers otherwise than before, or again", async () => {
    await deliverAnswers(db, answersFact([given(1, 6)]));
    await take(order());
    await take(order([{ ...red, answer: "black" }]));
    expect(await stands()).toEqual({ answers: { 1: "black" }, upTo: 6 });
    await take(order([{ ...red, answer: "black" }], { attendee_name: "Zoë" }));
    expect(await stands()).toEqual({ answers: { 1: "black" }, upTo: 6 });
    await deliverAnswers(db, answersFact([given(1, 7)]));
    await take(order([]));
    expect(await stands()).toEqual({ answers: {}, upTo: 7 });
    await take(order([{ ...red, answer: "black" }]));
    expect(await stands()).toEqual({ answers: { 1: "black" }, upTo: 7 });
  });

  it("[C5.52] leaves it out for a position that moves to another order", async () => {
    await deliverAnswers(db, answersFact([given(1, 6)]));
    const left = sample.order({ positions: [position({ id: 2, positionid: 2, secret: "second" })] });
    await take(left, sample.order({ code: "SPLIT", positions: [position({ answers: [red] })] }));
    expect(await stands()).toEqual({ answers: {}, upTo: 6 });
  });

  it("knows up to where gates' answers are part of it when none of them is left", async () => {
    await deliverAnswers(db, answersFact([given(1, 6, "blue")]));
    await take(order([{ ...red, answer: "black" }]));
    expect(await stands()).toEqual({ answers: { 1: "black" }, upTo: 6 });
    await take(order());
    expect(await stands()).toEqual({ answers: { 1: "red" }, upTo: 6 });
  });

  it("takes the answers of a position along to the order that it moves to, and to the grave", async () => {
    await deliverAnswers(db, answersFact([given(2, 6, "two")]));
    const left = sample.order({ positions: [position({ id: 2, positionid: 2, secret: "second" })] });
    await take(left, sample.order({ code: "SPLIT", positions: [position()] }));
    expect(await stands()).toEqual({ answers: { 2: "two" }, upTo: 6 });
    await take(record("order", { code: "SPLIT" }, { deleted: true }));
    expect(await db.many(sql`select from gate_answer`)).toEqual([]);
    await take(sample.order({ code: "SPLIT", positions: [position()] }));
    expect(await stands()).toEqual({ answers: {}, upTo: undefined });
  });

  it("and a gate at the same time lose nothing of each other", async () => {
    for (let round = 1; round <= 8; round += 1) {
      const names = Array.from({ length: 4 }, (_, index) => `Name ${round}.${index}`);
      await Promise.all([
        ...names.map((attendee_name) => take(order([red], { attendee_name }))),
        deliverAnswers(db, answersFact([given(2, 10 * round, `two ${round}`)])),
        deliverAnswers(db, answersFact([given(3, 10 * round + 1, `three ${round}`)], { position: 2 })),
      ]);
      expect(await stands()).toEqual({ answers: { 1: "red", 2: `two ${round}` }, upTo: 10 * round });
      expect(await stands(2)).toEqual({ answers: { 3: `three ${round}` }, upTo: 10 * round + 1 });
    }
    const facts = (await takeFacts(db)).filter(({ key }) => key === "org/fest/1");
    const revisions = facts.map(({ value }) => Number(value?.["revision"]));
    expect(revisions).toEqual(revisions.toSorted((one, other) => one - other));
    expect(facts.at(-1)?.value?.["position"]).toEqual(await readPosition(db));
    const { counted, recounted } = await recount(db);
    expect(counted).toEqual(recounted);
  });
});

it("[C5.55] a question that was answered at a gate stays", async () => {
  await deliverAnswers(db, answersFact([given(2, 6, "two")]));
  expect(await office.apply(record("question", { id: 2 }, { deleted: true }))).toEqual({
    1: { non_field_errors: ["Answers given at the gate refer to it; remove or change those first."] },
  });
  await take(record("question", { id: 3 }, { deleted: true }));
});
