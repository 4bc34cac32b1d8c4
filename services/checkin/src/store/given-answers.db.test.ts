import { sql } from "@tessera/kit/pg/sql";
import type { Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { AnswersGiven } from "@tessera/protos/gen/ticketing/checkin/v1/facts";
import type { SentAnswer } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { topics } from "@tessera/protos/topics";
import { questionDocument } from "@tessera/testkit/question-document";
import { beforeEach, describe, expect, it } from "vitest";
import { checkinDatabase } from "../testing/database.ts";
import { eventFact, itemFact, place, positionFact, questionFact } from "../testing/facts.ts";
import { inWord, scan, startCheckin } from "../testing/start-checkin.ts";
import { putGivenAnswers } from "./given-answers.ts";

let list: number;
let revision: number;

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
beforeEach(async () => {
  await checkin.reset();
  revision = 0;
  await checkin.deliver(topics.eventChanged, [eventFact()]);
  await checkin.deliver(topics.itemChanged, [itemFact(10)]);
  await checkin.deliver(topics.positionChanged, [positionFact(1)]);
  await ask("T", { required: false });
  list = (await checkin.createList()).id;
});

/** Makes question 7 the only one. */
async function ask(type: string, rest: object = {}): Promise<void> {
  revision += 1;
  const document = Buffer.from(questionDocument(7, { type, ...rest }));
  await checkin.deliver(topics.questionChanged, [questionFact(7, { revision, items: [10], document })]);
}

/** Scans the ticket with an answer, and returns the answers that the scan shows. */
async function answer(value: unknown, file?: SentAnswer["file"]): Promise<string[]> {
  const answers = [{ question: 7, value: JSON.stringify(value), ...(file === undefined ? {} : { file }) }];
  const outcome = await checkin.redeem(scan(list, "secret1", { answers }));
  expect(["admitted", "already_redeemed"]).toContain(inWord(outcome));
  return await shown();
}

async function shown(): Promise<string[]> {
  const { position } = await checkin.positions.getPosition({ ...place, list, id: 1, ignoreStatus: false });
  return (position?.position?.answers ?? []).map((each) => each.answer);
}

/** All facts for boxoffice, oldest first. */
async function told(): Promise<AnswersGiven[]> {
  const rows = await checkin.db.many<{ payload: Buffer }>(
    sql`select outbox.payload from outbox where outbox.topic = ${topics.answersGiven.name} order by outbox.id`,
  );
  return rows.map(({ payload }) => AnswersGiven.decode(payload));
}

const toldTexts = async () => (await told()).map(({ answers }) => answers[0]?.answer?.answer);

/** Delivers the position after boxoffice has applied all answers, with these. */
async function applyFound(answers: Position["answers"]): Promise<void> {
  revision += 1;
  const upTo = (await told()).at(-1)?.revision;
  const changes = { answers, ...(upTo === undefined ? {} : { answersRevision: upTo }) };
  await checkin.deliver(topics.positionChanged, [positionFact(1, changes, { revision })]);
}

const text = (content: string, rest: Partial<Position["answers"][number]> = {}) => ({
  question: 7,
  answer: content,
  questionIdentifier: "Q7",
  options: [],
  optionIdentifiers: [],
  ...rest,
});

describe("an answer that is given again", () => {
  it("[C5.58] counts again where boxoffice has taken it over and answers otherwise since", async () => {
    await answer("blue");
    await applyFound([text("blue")]);
    await applyFound([text("red")]);
    expect(await answer("blue")).toEqual(["blue"]);
    expect(await toldTexts()).toEqual(["blue", "blue"]);
    const [first, second] = (await told()).map(({ answers }) => answers[0]?.revision ?? 0);
    expect(second).toBeGreaterThan(first ?? Number.MAX_SAFE_INTEGER);
    await applyFound([text("red")]);
    expect(await answer("blue")).toEqual(["blue"]);
    await applyFound([]);
    expect(await answer("blue")).toEqual(["blue"]);
    expect(await toldTexts()).toEqual(["blue", "blue", "blue", "blue"]);
  });

  it("[C5.58] is taken back again where it has come back since", async () => {
    await applyFound([text("red")]);
    expect(await answer(null)).toEqual([]);
    await applyFound([text("red")]);
    expect(await answer("")).toEqual([]);
    await applyFound([]);
    expect(await answer(null)).toEqual([]);
    expect(await toldTexts()).toEqual([undefined, undefined]);
  });

  it("[C5.59] is neither stored nor published if it is current, applied by boxoffice or not, whatever gave it", async () => {
    await answer("blue");
    const first = await checkin.db.many(sql`select given_answer.revision, given_answer.xmin::text from given_answer`);
    await answer("blue");
    await applyFound([text("blue")]);
    await answer("blue");
    await answer("blue");
    await applyFound([text("red")]);
    expect(await answer("red")).toEqual(["red"]);
    expect(await toldTexts()).toEqual(["blue"]);
    expect(await checkin.db.many(sql`select given_answer.revision, given_answer.xmin::text from given_answer`)).toEqual(
      first,
    );
  });

  it("[C5.59] is neither stored nor published if it is a file with the same content", async () => {
    await ask("F");
    const file = { name: "me.png", contentType: "image/png", size: 12, sha256: "ab".repeat(32) };
    const send = (upload: string, changes: object = {}) =>
      answer(`file:${upload}`, { ...file, upload, ...changes }).then(([shownText]) => shownText ?? "");
    const uploads = ["1", "2", "3", "4"].map((digit) => `0c7ae55b-3b0c-4f0e-8e0f-3a52a5d0f8f${digit}`);
    const [first = "", second = "", third = "", fourth = ""] = uploads;
    const reference = await send(first);
    await applyFound([text(reference, { file: true })]);
    expect(await send(second)).toBe(reference);
    expect(await told()).toHaveLength(1);
    await applyFound([text(reference)]);
    expect(await send(third)).toBe(reference);
    expect(await told()).toHaveLength(2);
    expect(await send(fourth, { sha256: "cd".repeat(32) })).not.toBe(reference);
    expect((await told()).map(({ answers }) => answers[0]?.file?.upload)).toEqual([first, third, fourth]);
  });

  it("[C5.59] is published if the same text means another option or another name of it", async () => {
    await applyFound([text("blue", { questionIdentifier: "" })]);
    expect(await answer("blue")).toEqual(["blue"]);
    await applyFound([text("blue"), text("blue")]);
    expect(await answer("blue")).toEqual(["blue"]);
    expect(await toldTexts()).toEqual(["blue", "blue"]);
  });
});

describe("an answer, while a file that was given before it waits to be copied", () => {
  const sha256 = "ab".repeat(32);
  const file = {
    upload: "0c7ae55b-3b0c-4f0e-8e0f-3a52a5d0f8f1",
    name: "me.png",
    contentType: "image/png",
    size: 12,
    sha256,
  };
  const reference = `file:image/png;12;${sha256}`;

  /** Delivers the position after boxoffice has applied all answers, but waits for a file, with this answer. */
  async function applyAwaiting(answers: Position["answers"]): Promise<void> {
    const given = (await told()).at(-1);
    const ofFile = given?.answers.find(({ question }) => question === 8)?.revision ?? 0;
    const awaitedFiles = { answersUpTo: given?.revision ?? 0, questions: [8] };
    const changes = { answers, answersRevision: ofFile - 1, awaitedFiles };
    revision += 1;
    await checkin.deliver(topics.positionChanged, [positionFact(1, changes, { revision })]);
  }

  beforeEach(async () => {
    const document = Buffer.from(questionDocument(8, { type: "F", required: false }));
    await checkin.deliver(topics.questionChanged, [questionFact(8, { items: [10], document })]);
    const sent = { question: 8, value: JSON.stringify(`file:${file.upload}`), file };
    expect(inWord(await checkin.redeem(scan(list, "secret1", { answers: [sent] })))).toBe("incomplete");
    expect(await answer("blue")).toEqual([reference, "blue"]);
  });

  it("[C5.51] is not shown any more once an order has replaced it; the file is", async () => {
    await applyAwaiting([text("blue")]);
    expect(await shown()).toEqual(["blue", reference]);
    await applyAwaiting([text("red")]);
    expect(await shown()).toEqual(["red", reference]);
    await applyAwaiting([]);
    expect(await shown()).toEqual([reference]);
  });

  it("[C5.58] counts again where an order has replaced it; the file does not", async () => {
    await applyAwaiting([text("red")]);
    expect(await answer("blue")).toEqual([reference, "blue"]);
    const [before, after] = (await told()).slice(-2).map(({ answers }) => answers.map((each) => each.revision));
    expect([after?.length, after?.[1]]).toEqual([2, before?.[1]]);
    expect(after?.[0]).toBeGreaterThan(before?.[0] ?? Number.MAX_SAFE_INTEGER);
  });

  it("is shown where boxoffice has not applied it yet", async () => {
    await applyAwaiting([text("red")]);
    await answer("green");
    expect(await shown()).toEqual([reference, "green"]);
  });
});

it("of several answers at once the last one counts, even if it is the current one", async () => {
  const put = (...answers: readonly (readonly [content: string, isUnchanged: boolean])[]) =>
    checkin.db.transaction((tx) =>
      putGivenAnswers(
        tx,
        answers.map(([content, isUnchanged]) => ({
          ...place,
          id: 1,
          question: 7,
          state: Buffer.from(content),
          isUnchanged,
        })),
      ),
    );
  expect(await put(["blue", false], ["red", true])).toEqual([]);
  expect(await put(["red", true], ["blue", false])).toMatchObject([{ id: 1, answers: [{ question: 7 }] }]);
  expect(await put(["blue", false])).toEqual([]);
});
