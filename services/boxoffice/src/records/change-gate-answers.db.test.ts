import { hash, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskFiles } from "@tessera/engines/files/disk";
import { createMetrics } from "@tessera/kit/telemetry/metrics";
import type { AnswersGiven, GivenAnswer } from "@tessera/protos/gen/ticketing/checkin/v1/facts";
import type { FileType } from "@tessera/sent-files/file-type";
import { fileWith, textIn } from "@tessera/sent-files/testing/sample-files";
import { emptyTables } from "@tessera/testkit/empty-tables";
import { quiet } from "@tessera/testkit/fact-pipeline";
import { finishWork } from "@tessera/testkit/finish-work";
import fc from "fast-check";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { getAnswerFile } from "../handlers/answer-files.ts";
import { copyGateFiles } from "../jobs/copy-gate-files.ts";
import { reportEvents } from "../report-events.ts";
import { boxOfficeOn } from "../testing/box-office.ts";
import { boxofficeDatabase } from "../testing/database.ts";
import { takeFacts } from "../testing/facts.ts";
import { answersFact, deliverAnswers, given, readPosition } from "../testing/given-at-gate.ts";
import { position, record, sample, type TestRecord } from "../testing/records.ts";
import { toReference } from "./answer-file.ts";

const { db } = await boxofficeDatabase();
const directory = await mkdtemp(join(tmpdir(), "tessera-gate-answers-"));
const files = diskFiles({ directory });
const office = boxOfficeOn(db, { files });
afterAll(() => rm(directory, { recursive: true }));

const questions = [1, 2, 3].map((id) => sample.question({ id, type: id === 3 ? "F" : "T", identifier: `Q${id}` }));
const dataUrl = (text: string) => `data:image/gif;base64,${fileWith("image/gif", text).toString("base64")}`;

/** Texts by question; the third question asks for files, whose content they are. */
type Texts = Readonly<Record<number, string>>;

function order(texts: Texts, rest: object = {}): TestRecord {
  const answers = Object.entries(texts).map(([id, text]) => {
    const question = Number(id);
    return { question, answer: question === 3 ? dataUrl(text) : text, question_identifier: `Q${id}` };
  });
  return sample.order({ positions: [position({ answers, ...rest })] });
}

async function take(...records: TestRecord[]): Promise<void> {
  expect(await office.apply(...records)).toEqual({});
}

beforeEach(async () => {
  await emptyTables(db);
  await take(sample.organizer(), sample.event(), sample.item(), ...questions);
});

/** The published position, with files by their content. */
async function published(): Promise<{ answers: Texts; upTo: number | undefined }> {
  const { answers, answersRevision } = await readPosition(db);
  return {
    answers: Object.fromEntries(answers.map(({ question, answer }) => [question, contents.get(answer) ?? answer])),
    upTo: answersRevision,
  };
}

const contents = new Map(
  ["red", "blue"].flatMap((text) =>
    (["image/gif", "image/png"] as const).map((contentType) => [referenceOf(contentType, text), text]),
  ),
);

function referenceOf(contentType: FileType, text: string): string {
  const bytes = fileWith(contentType, text);
  return toReference({ contentType, size: bytes.length, sha256: hash("sha256", bytes) });
}

/** The content of the file that is shown for the third question. */
async function download(): Promise<string | undefined> {
  const request = { organizer: "org", event: "fest", position: 1, question: 3 };
  return getAnswerFile(request, { db, files }).then(
    ({ content }) => textIn(content),
    () => undefined,
  );
}

async function copy(): Promise<void> {
  await finishWork(db, [copyGateFiles({ db, files, events: reportEvents({ log: quiet, metrics: createMetrics() }) })]);
}

const gateStep = fc.record({
  kind: fc.constant("gate" as const),
  // Files have most ways to fail.
  question: fc.constantFrom(1, 2, 3, 3, 3),
  text: fc.constantFrom("red", "blue", "no file", undefined),
  // Which earlier facts are delivered again with it.
  again: fc.array(fc.nat({ max: 5 }), { maxLength: 3 }),
});
const recordStep = fc.record({
  kind: fc.constant("record" as const),
  texts: fc.dictionary(fc.constantFrom("1", "2", "3"), fc.constantFrom("red", "blue")),
  again: fc.boolean(),
});
const copyStep = fc.record({ kind: fc.constant("copy" as const) });
const steps = fc.array(fc.oneof({ weight: 3, arbitrary: gateStep }, { weight: 2, arbitrary: recordStep }, copyStep), {
  minLength: 3,
  maxLength: 12,
});

/** A gate may answer any question without a file. */
function isFile(question: number, text: string | undefined): text is string {
  return question === 3 && text !== undefined && text !== "no file";
}

/** The rule in its simplest form: for each question the latest answer counts, and an unchanged record says nothing. */
class Model {
  readonly record = new Map<number, string>();
  readonly gate = new Map<number, string | undefined>();
  readonly awaited = new Map<number, { text: string; revision: number }>();
  revision = 0;

  applyRecord(texts: Texts): void {
    for (const [id, text] of Object.entries(texts)) {
      if (this.record.get(Number(id)) === text) continue;
      this.gate.delete(Number(id));
      this.awaited.delete(Number(id));
    }
    this.record.clear();
    for (const [id, text] of Object.entries(texts)) this.record.set(Number(id), text);
  }

  answer(question: number, text: string | undefined): void {
    this.revision += 1;
    this.awaited.delete(question);
    if (isFile(question, text)) this.awaited.set(question, { text, revision: this.revision });
    else this.gate.set(question, text);
  }

  copy(): void {
    for (const [question, { text }] of this.awaited) this.gate.set(question, text);
    this.awaited.clear();
  }

  published() {
    const answers = [...new Map<number, string | undefined>([...this.record, ...this.gate])];
    const upTo = Math.min(this.revision, ...[...this.awaited.values()].map(({ revision }) => revision - 1));
    return {
      answers: Object.fromEntries(answers.filter(([, text]) => text !== undefined)),
      upTo: this.revision === 0 ? undefined : upTo,
    };
  }
}

/** A gate that publishes all its answers each time. */
class Gate {
  readonly facts: AnswersGiven[] = [];
  #answers = new Map<number, GivenAnswer>();

  async answer(question: number, text: string | undefined, revision: number): Promise<void> {
    let file: { upload: string } | undefined;
    if (isFile(question, text)) {
      file = { upload: randomUUID() };
      await files.put(`uploads/${file.upload}`, fileWith("image/png", text), { contentType: "image/png" });
    }
    this.#answers = new Map(this.#answers).set(question, given(question, revision, text, file));
    this.facts.push(answersFact([...this.#answers.values()]));
  }
}

describe("answers of records and gates", () => {
  it("[C5.50] [C5.51] [C5.52] are those of a simple model, whatever comes when and however often", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        await take(record("order", { code: "ABCDE" }, { deleted: true }));
        await take(order({}));
        const [model, gate] = [new Model(), new Gate()];
        for (const step of all) {
          if (step.kind === "record") {
            model.applyRecord(step.texts);
            await take(order(step.texts));
            if (step.again) await take(order(step.texts, { attendee_name: "Zoë" }));
          } else if (step.kind === "gate") {
            model.answer(step.question, step.text);
            await gate.answer(step.question, step.text, model.revision);
            // The newest fact comes first, last or in between, and others are repeated, together or one by one.
            const [newest] = gate.facts.slice(-1);
            const others = step.again.flatMap((index) => gate.facts[index] ?? []);
            const sent = [...others.slice(0, 1), ...(newest === undefined ? [] : [newest]), ...others.slice(1)];
            for (const fact of sent) await deliverAnswers(db, fact);
          } else {
            model.copy();
            await copy();
          }
          expect(await published()).toEqual(model.published());
          const shown = model.published().answers[3];
          expect(await download()).toBe(isFile(3, shown) ? shown : undefined);
        }
        const facts = (await takeFacts(db)).filter(({ value }) => value !== null);
        expect(facts.at(-1)?.value?.["position"]).toEqual(await readPosition(db));
      }),
      { numRuns: 20 },
    );
  });

  it("are the same in the end, in whatever order twenty deliveries and records come at a time", async () => {
    for (let round = 0; round < 5; round += 1) {
      await take(record("order", { code: "ABCDE" }, { deleted: true }));
      await take(order({ 1: "red", 2: "red" }));
      const gate = new Gate();
      for (let revision = 1; revision <= 10; revision += 1) {
        await gate.answer(1 + (revision % 2), revision === 9 ? undefined : `gate ${revision}`, revision);
      }
      const names = Array.from({ length: 10 }, (_, index) => `Name ${round}.${index}`);
      await Promise.all([
        ...gate.facts.toReversed().map((fact) => deliverAnswers(db, fact)),
        ...names.map((attendee_name) => take(order({ 1: "red", 2: "red", 3: "blue" }, { attendee_name }))),
      ]);
      expect(await published()).toEqual({ answers: { 1: "gate 10", 3: "blue" }, upTo: 10 });
      const facts = (await takeFacts(db)).filter(({ value }) => value !== null);
      expect(facts.at(-1)?.value?.["position"]).toEqual(await readPosition(db));
      const revisions = facts.map(({ value }) => Number(value?.["revision"]));
      expect(revisions).toEqual(revisions.toSorted((one, other) => one - other));
    }
  });
});
