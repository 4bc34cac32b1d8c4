import { hash, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskFiles } from "@tessera/engines/files/disk";
import { systemClock } from "@tessera/kit/clock";
import { Fault } from "@tessera/kit/fault";
import type { Files } from "@tessera/kit/files/files";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { createMetrics } from "@tessera/kit/telemetry/metrics";
import type { Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import type { FileType } from "@tessera/sent-files/file-type";
import { fileWith, textIn } from "@tessera/sent-files/testing/sample-files";
import { emptyTables } from "@tessera/testkit/empty-tables";
import { collect } from "@tessera/testkit/files-contract";
import { finishWork, passTime } from "@tessera/testkit/finish-work";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { getAnswerFile } from "../handlers/answer-files.ts";
import { reportEvents } from "../report-events.ts";
import { type BoxOffice, boxOfficeOn } from "../testing/box-office.ts";
import { boxofficeDatabase } from "../testing/database.ts";
import { takeFacts } from "../testing/facts.ts";
import { answersFact, deliverAnswers, given, readPosition } from "../testing/given-at-gate.ts";
import { position, record, sample } from "../testing/records.ts";
import { copyGateFiles } from "./copy-gate-files.ts";
import { removeAnswerFiles } from "./remove-answer-files.ts";

let directory: string;
let files: Files;
let office: BoxOffice;
let lines: string[];

const { database, db } = await boxofficeDatabase();
afterAll(() => database.drop());

const dataUrl = `data:image/gif;base64,${fileWith("image/gif", "of the record").toString("base64")}`;
const order = (answers: readonly object[] = []) => sample.order({ positions: [position({ answers })] });
const withPicture = order([{ question: 1, answer: dataUrl, file_name: "record.gif" }]);

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-gate-files-"));
  files = diskFiles({ directory });
  office = boxOfficeOn(db, { files });
  lines = [];
  await emptyTables(db);
  await office.apply(sample.organizer(), sample.event(), sample.item());
  await office.apply(sample.question({ id: 1, type: "F" }), sample.question({ id: 2, type: "T", identifier: "Q2" }));
  await office.apply(order());
  await takeFacts(db);
});
afterEach(async () => {
  expect(office.logged).toEqual([]);
  await rm(directory, { recursive: true, force: true });
});

const { signal } = new AbortController();

/** Copies files that are due; `again`: failed ones, too. */
async function copy({ from = files, database: on = db, again = false } = {}): Promise<void> {
  if (again) await passTime(db);
  const log = createLog({ service: "test", destination: { write: (line) => lines.push(line) } });
  await finishWork(
    on,
    [copyGateFiles({ db: on, files: from, events: reportEvents({ log, metrics: createMetrics() }) })],
    { log },
  );
}

async function upload(content = "picture"): Promise<string> {
  const id = randomUUID();
  await files.put(`uploads/${id}`, fileWith("image/png", content), { contentType: "image/png" });
  return id;
}

const reference = (content: string, type: FileType = "image/png") => {
  const bytes = fileWith(type, content);
  return `file:${type};${bytes.length};${hash("sha256", bytes)}`;
};
const get = async (question = 1) => {
  const request = { organizer: "org", event: "fest", position: 1, question };
  const { name, contentType, content } = await getAnswerFile(request, { db, files });
  return [name, contentType, textIn(content)];
};
const notFound = { kind: "not_found", code: "answer_file_not_found" };

/** Answers by question, files marked, and the merged revision of gate answers. */
async function stands() {
  const { answers, answersRevision } = await readPosition(db);
  return [answers.map(({ question, answer, file }) => [question, answer, file ?? false]), answersRevision];
}

const keys = async () => (await collect(files.list("answers/"))).map(({ key }) => key).sort();
const namedKeys = async () =>
  (
    await db.many<{ key: string }>(sql`
      select gate_answer.file ->> 'fileKey' as key
        from gate_answer
       where gate_answer.file is not null
       union all
      select answer_file.file_key
        from answer_file
        left join gate_answer using (organizer, event, position, question)
       where gate_answer.revision is null
       order by 1`)
  ).map(({ key }) => key);
const sweep = () =>
  removeAnswerFiles({ db, files, clock: { now: () => systemClock.now() + 2 * 3_600_000_000 } }).run(signal);

describe("a file that answers a question at the gate", () => {
  it("[C5.53] is copied and can be downloaded, also when its upload is gone", async () => {
    const id = await upload();
    await deliverAnswers(
      db,
      answersFact([given(2, 5, "yes"), given(1, 6, "file", { upload: id, name: "../Ich.jpg" })]),
    );
    await copy();
    await files.remove([`uploads/${id}`]);
    await sweep();
    expect(await get()).toEqual(["Ich.jpg.png", "image/png", "picture"]);
    const answers = [
      [1, reference("picture"), true],
      [2, "yes", false],
    ];
    expect(await stands()).toEqual([answers, 6]);
    const facts = (await takeFacts(db)).map(({ value }) => value as unknown as { position: Position });
    expect(
      facts.at(-1)?.position.answers.map(({ question, answer, file }) => [question, answer, file ?? false]),
    ).toEqual(answers);
    expect(await keys()).toEqual(await namedKeys());
    expect(lines).toEqual([]);
  });

  it("is part of the answers when it is copied and not before: what was answered stands until then", async () => {
    await office.apply(withPicture);
    const before = [[1, reference("of the record", "image/gif"), true]];
    const upToNow = answersFact([given(1, 6, "file", { upload: await upload() }), given(2, 7, "yes")]);
    await deliverAnswers(db, upToNow);
    expect(await stands()).toEqual([[...before, [2, "yes", false]], 5]);
    expect(await get()).toEqual(["record.gif", "image/gif", "of the record"]);
    await takeFacts(db);
    await deliverAnswers(db, upToNow);
    expect(await takeFacts(db)).toEqual([]);
    await copy();
    expect(await get()).toEqual(["me.png", "image/png", "picture"]);
    const [, upTo] = await stands();
    expect(upTo).toBe(7);
    await sweep();
    expect(await keys()).toEqual(await namedKeys());
  });

  it("[C5.51] stays when the order is sent again without it, and goes when the order answers the question", async () => {
    await deliverAnswers(db, answersFact([given(1, 6, "file", { upload: await upload() })]));
    await copy();
    await office.apply(order());
    expect(await get()).toEqual(["me.png", "image/png", "picture"]);
    await office.apply(withPicture);
    expect(await get()).toEqual(["record.gif", "image/gif", "of the record"]);
    await sweep();
    expect(await keys()).toEqual(await namedKeys());
  });

  it("[C5.51] stays when the order is sent again with the file that it always had", async () => {
    await office.apply(withPicture);
    await deliverAnswers(db, answersFact([given(1, 6, "file", { upload: await upload() })]));
    await copy();
    await office.apply(withPicture);
    expect(await stands()).toEqual([[[1, reference("picture"), true]], 6]);
    expect(await get()).toEqual(["me.png", "image/png", "picture"]);
    await sweep();
    expect(await keys()).toEqual(await namedKeys());
  });

  it("[C5.52] of the order that was taken back stays away when the order is sent again", async () => {
    await office.apply(withPicture);
    await deliverAnswers(db, answersFact([given(1, 6)]));
    await office.apply(withPicture);
    expect(await stands()).toEqual([[], 6]);
    await expect(get()).rejects.toMatchObject(notFound);
    await deliverAnswers(db, answersFact([given(1, 7, "text")]));
    await office.apply(withPicture);
    await expect(get()).rejects.toMatchObject(notFound);
    await sweep();
    expect(await keys()).toEqual([]);
  });

  it("is not waited for any more when the order answers the question first", async () => {
    await deliverAnswers(db, answersFact([given(1, 6, "file", { upload: await upload() })]));
    await office.apply(withPicture);
    expect(await stands()).toEqual([[[1, reference("of the record", "image/gif"), true]], 6]);
    await copy();
    expect(await get()).toEqual(["record.gif", "image/gif", "of the record"]);
  });

  it.each([
    ["another file", "file"],
    ["a text", "text"],
    ["nothing", undefined],
  ])("gives way to %s that came while it was copied", async (_name, text) => {
    const [first, second] = [await upload("first"), await upload("second")];
    await deliverAnswers(db, answersFact([given(1, 6, "file", { upload: first })]));
    const slow: Files = {
      ...files,
      async put(...args) {
        const put = await files.put(...args);
        const newer = given(1, 7, text, text === "file" ? { upload: second } : undefined);
        await deliverAnswers(db, answersFact([newer]));
        return put;
      },
    };
    await copy({ from: { ...slow, put: once(slow.put, files.put) } });
    await copy();
    const expected = { file: [[[1, reference("second"), true]], 7], text: [[[1, "text", false]], 7] };
    expect(await stands()).toEqual(text === undefined ? [[], 7] : expected[text as keyof typeof expected]);
    if (text === "file") expect(await get()).toEqual(["me.png", "image/png", "second"]);
    else await expect(get()).rejects.toMatchObject(notFound);
    await sweep();
    expect(await keys()).toEqual(await namedKeys());
  });

  it("[C5.54] that is gone answers nothing: what was answered before stands, and a line says so", async () => {
    await office.apply(withPicture);
    const gone = given(1, 6, "file", { upload: randomUUID() });
    await deliverAnswers(db, answersFact([gone, given(2, 7, "yes")]));
    await copy();
    expect(await get()).toEqual(["record.gif", "image/gif", "of the record"]);
    const answers = [
      [1, reference("of the record", "image/gif"), true],
      [2, "yes", false],
    ];
    expect(await stands()).toEqual([answers, 7]);
    const places = { organizer: "org", event: "fest", position: 1, question: 1 };
    expect(lines.map((line) => JSON.parse(line))).toEqual([expect.objectContaining({ level: "warn", ...places })]);
    expect(await db.many(sql`select from gate_answer where question = 1`)).toEqual([]);
  });

  it.each([
    ["names no upload", { upload: "../answers/x" }],
    ["is of a type that is none", { contentType: "text/html" }],
  ])("[C5.54] that %s answers nothing", async (_name, file) => {
    await deliverAnswers(db, answersFact([given(1, 6, "file", { upload: await upload(), ...file })]));
    await copy();
    expect(await stands()).toEqual([[], 6]);
    expect(lines).toHaveLength(1);
  });

  it("goes with its position, also while it is copied", async () => {
    await deliverAnswers(db, answersFact([given(1, 6, "file", { upload: await upload() })]));
    const removing = async (...args: Parameters<Files["put"]>) => {
      const put = await files.put(...args);
      await office.apply(record("order", { code: "ABCDE" }, { deleted: true }));
      return put;
    };
    await copy({ from: { ...files, put: removing } });
    await sweep();
    expect([await keys(), await db.many(sql`select from gate_answer`)]).toEqual([[], []]);
  });

  it("is copied once by many at a time", async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, (_, index) => upload(`picture ${index}`)));
    const many = ids.map((_, index) => position({ id: index + 1, positionid: index + 1, secret: `s${index}` }));
    await office.apply(sample.order({ positions: many }));
    await deliverAnswers(
      db,
      ...ids.map((id, index) => answersFact([given(1, index + 6, "file", { upload: id })], { position: index + 1 })),
    );
    await Promise.all([copy(), copy(), copy()]);
    expect((await keys()).length).toBe(20);
    expect(await keys()).toEqual(await namedKeys());
  });
});

describe("a process that copies and is killed", () => {
  const killed = () => Promise.reject(new Error("killed"));

  it("before the bytes are there leaves everything to the next one", async () => {
    await deliverAnswers(db, answersFact([given(1, 6, "file", { upload: await upload() })]));
    await copy({ from: { ...files, put: killed } });
    await copy();
    await expect(get()).rejects.toMatchObject(notFound);
    await copy({ again: true });
    expect(await get()).toEqual(["me.png", "image/png", "picture"]);
  });

  it("between the bytes and the row leaves bytes that are removed, and the file is copied again", async () => {
    await deliverAnswers(db, answersFact([given(1, 6, "file", { upload: await upload() })]));
    await copy({ database: { ...db, transaction: killed } });
    const [orphan] = await keys();
    expect([orphan, await namedKeys()]).toEqual([expect.any(String), []]);
    await copy({ again: true });
    await sweep();
    expect(await keys()).toEqual(await namedKeys());
    expect(await keys()).not.toContain(orphan);
    expect(await get()).toEqual(["me.png", "image/png", "picture"]);
  });

  it("finds the store away holds up no other answer", async () => {
    const [lost, other] = [await upload(), await upload("other")];
    const away: Files = {
      ...files,
      get: (key) =>
        key.endsWith(lost) ? Promise.reject(new Fault("unavailable", "files_unavailable", "away")) : files.get(key),
    };
    await office.apply(sample.order({ positions: [position(), position({ id: 2, positionid: 2, secret: "b" })] }));
    await deliverAnswers(
      db,
      answersFact([given(1, 6, "file", { upload: lost })]),
      answersFact([given(1, 7, "file", { upload: other })], { position: 2 }),
    );
    await copy({ from: away });
    expect(await db.many(sql`select position from gate_answer where file is not null`)).toEqual([{ position: 2 }]);
    await copy({ again: true });
    expect(await get()).toEqual(["me.png", "image/png", "picture"]);
  });
});

/** Calls the first function once, and then the other. */
function once<A extends unknown[], R>(first: (...args: A) => R, then: (...args: A) => R): (...args: A) => R {
  let called = false;
  return (...args) => {
    if (called) return then(...args);
    called = true;
    return first(...args);
  };
}
