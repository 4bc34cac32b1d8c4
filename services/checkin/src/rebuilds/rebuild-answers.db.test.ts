import { memoryBus } from "@tessera/engines/memory-bus";
import { rebuildTopics } from "@tessera/kit/bus/rebuild-topics";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { GivenAnswer } from "@tessera/protos/gen/ticketing/checkin/v1/facts";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import { putGivenAnswers } from "../store/given-answers.ts";
import type { EventKey } from "../store/keys.ts";
import { checkinDatabase } from "../testing/database.ts";
import { eventFact, place, positionFact } from "../testing/facts.ts";
import { startCheckin } from "../testing/start-checkin.ts";
import { toAnswersGiven } from "../wire/answers.ts";
import { rebuildAnswers } from "./rebuild-answers.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
const elsewhere: EventKey = { organizer: "bigevents", event: "afterparty" };

beforeEach(async () => {
  await checkin.reset();
  await checkin.db.run(sql`delete from given_answer`);
  await checkin.db.run(sql`delete from rebuild`);
  await checkin.deliver(topics.eventChanged, [eventFact(), eventFact(elsewhere)]);
  await checkin.deliver(topics.positionChanged, [
    ...[1, 2, 3].map((id) => positionFact(id)),
    ...[2, 3].map((id) => ({ ...positionFact(id), ...elsewhere })),
  ]);
  await checkin.db.run(sql`delete from outbox`);
});

/** Stores an answer as a gate does, and publishes it. */
async function answer(id: number, question: number, text: string, where: EventKey = place): Promise<void> {
  const answer = { question, answer: text, questionIdentifier: "", options: [], optionIdentifiers: [] };
  const state = GivenAnswer.encode({ question, revision: 0, answer }).finish();
  await checkin.db.transaction(async (tx) => {
    const answered = await putGivenAnswers(tx, [{ ...where, id, question, state }]);
    await tx.publish(topics.answersGiven, answered.map(toAnswersGiven));
  });
}

/** Takes the published answers out of the outbox, in order; a fact without a value is a tombstone. */
async function takePublished() {
  const rows = await checkin.db.many<{ key: string; payload: Buffer | null }>(sql`
    with taken as (delete from outbox where topic = ${topics.answersGiven.name} returning id, key, payload, marker)
    select key, payload from taken where marker is null order by id`);
  return rows.map(({ key, payload }) => ({
    key,
    value: payload === null ? null : topics.answersGiven.decode(payload),
  }));
}

async function rebuild({ batchSize = 2 } = {}): Promise<{ line: number; expected: number; written: number }> {
  await checkin.db.run(sql`delete from rebuild`);
  await checkin.db.run(sql`insert into rebuild (topic) values (${topics.answersGiven.name})`);
  const log = createLog({ service: "test", destination: { write: () => {} } });
  const job = rebuildTopics({ db: checkin.db, bus: memoryBus([]), rebuilds: [rebuildAnswers], log, batchSize });
  await job.run(new AbortController().signal);
  const { cause, ...row } = await checkin.db.one<{
    line: number;
    expected: number;
    written: number;
    cause: string | null;
  }>(sql`select line, expected, written, cause from rebuild`);
  expect(cause).toBeNull();
  return row;
}

const answerAll = async () => {
  await answer(3, 1, "three");
  await answer(2, 8, "two");
  await answer(2, 8, "elsewhere", elsewhere);
  await answer(2, 7, "two again");
  await answer(3, 1, "elsewhere, too", elsewhere);
};

describe("answers that are published again", () => {
  it("are whole states with revisions above the cutoff, and answers that keep their revisions", async () => {
    await answerAll();
    const published = new Map((await takePublished()).map(({ key, value }) => [key, value]));
    const { line, expected, written } = await rebuild();
    expect({ expected, written }).toEqual({ expected: 4, written: 4 });
    const again = await takePublished();
    expect(again.map(({ key }) => key)).toEqual([
      "bigevents/afterparty/2",
      "bigevents/sampleconf/2",
      "bigevents/afterparty/3",
      "bigevents/sampleconf/3",
    ]);
    for (const { key, value } of again) {
      expect(value?.revision).toBeGreaterThan(line);
      const former = published.get(key);
      expect({ ...value, revision: former?.revision }).toEqual(former);
      expect(line).toBeGreaterThan(former?.revision ?? Number.MAX_SAFE_INTEGER);
    }
  });

  it("are older than what is answered afterwards, also when a backup has replaced the database since", async () => {
    await answer(1, 1, "one");
    const { line } = await rebuild();
    await checkin.db.run(sql`select setval('answer_revision', 3)`);
    const { line: next } = await rebuild();
    expect(next).toBeGreaterThan(line);
    await takePublished();
    await answer(1, 1, "one again");
    const [fact] = await takePublished();
    expect(fact?.value?.revision).toBeGreaterThan(next);
    expect(fact?.value?.revision).toBe(fact?.value?.answers[0]?.revision);
  });

  it("never land behind what a gate stores meanwhile", async () => {
    await answerAll();
    await takePublished();
    const answering = async () => {
      for (let round = 0; round < 20; round += 1) await answer(2, 7, `round ${round}`);
    };
    const rebuilding = async () => {
      for (let round = 0; round < 3; round += 1) await rebuild({ batchSize: 1 });
    };
    await Promise.all([answering(), rebuilding()]);
    const last = (await takePublished()).filter(({ key }) => key === "bigevents/sampleconf/2").at(-1);
    expect(last?.value?.answers.find(({ question }) => question === 7)?.answer?.answer).toBe("round 19");
  });
});

describe("a position that goes", () => {
  it("[C5.56] deletes its answers, and publishes that", async () => {
    await answerAll();
    await takePublished();
    await checkin.deliver(topics.positionChanged, ["bigevents/sampleconf/2", "bigevents/sampleconf/1"]);
    expect(await takePublished()).toEqual([{ key: "bigevents/sampleconf/2", value: null }]);
    expect(
      await checkin.db.many(sql`select event, position, question from given_answer order by position, event`),
    ).toEqual([
      { event: "afterparty", position: 2, question: 8 },
      { event: "afterparty", position: 3, question: 1 },
      { event: "sampleconf", position: 3, question: 1 },
    ]);
  });

  it("and comes again has answered nothing", async () => {
    await answer(1, 1, "one");
    await takePublished();
    await checkin.deliver(topics.positionChanged, ["bigevents/sampleconf/1", positionFact(1, {}, { revision: 9 })]);
    expect(await takePublished()).toEqual([{ key: "bigevents/sampleconf/1", value: null }]);
    expect(await checkin.db.many(sql`select from given_answer`)).toEqual([]);
  });
});
