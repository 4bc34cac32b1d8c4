import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskFiles } from "@tessera/engines/files/disk";
import { systemClock } from "@tessera/kit/clock";
import { Fault } from "@tessera/kit/fault";
import type { Files } from "@tessera/kit/files/files";
import { sql } from "@tessera/kit/pg/sql";
import type { FileType } from "@tessera/sent-files/file-type";
import { aPdf, aPng, fileWith, textIn } from "@tessera/sent-files/testing/sample-files";
import { emptyTables } from "@tessera/testkit/empty-tables";
import { collect } from "@tessera/testkit/files-contract";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { getAnswerFile, getAnswerFiles } from "../handlers/answer-files.ts";
import { removeAnswerFiles } from "../jobs/remove-answer-files.ts";
import { type BoxOffice, boxOfficeOn } from "../testing/box-office.ts";
import { boxofficeDatabase } from "../testing/database.ts";
import { takeFacts } from "../testing/facts.ts";
import { festival, position, record, sample, type TestRecord } from "../testing/records.ts";
import { keyOfFile } from "./answer-file.ts";

let directory: string;
let files: Files;
let office: BoxOffice;

const { database, db } = await boxofficeDatabase();
afterAll(() => database.drop());

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-answers-"));
  files = diskFiles({ directory });
  office = boxOfficeOn(db, { files });
  await emptyTables(db);
  await take(
    ...festival,
    sample.question({ id: 1, type: "F" }),
    sample.question({ id: 2, type: "T", identifier: "TEXT" }),
  );
  await takeFacts(db);
});
afterEach(async () => {
  expect(office.logged).toEqual([]);
  await rm(directory, { recursive: true, force: true });
});

/** Applies valid records. */
async function take(...records: TestRecord[]): Promise<void> {
  expect(await office.apply(...records)).toEqual({});
}

const toDataUrl = (bytes: Uint8Array, type = "image/png") =>
  `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;
const dataUrl = (text: string, type: FileType = "image/png") => toDataUrl(fileWith(type, text), type);
const scripted = aPdf({ catalog: "/OpenAction << /S /JavaScript /JS (app.alert\\(1\\)) >>" });
const answered = (answers: readonly object[], rest: object = {}) =>
  sample.order({ positions: [position({ answers, ...rest })] });
const onePicture = dataUrl("picture");
const picture = (content = "picture", rest: object = {}) =>
  answered([{ question: 1, answer: dataUrl(content), file_name: "me.png", ...rest }]);

const call = { signal: new AbortController().signal, deadline: Number.MAX_SAFE_INTEGER };
const get = async (place: { event?: string; position?: number; question?: number } = {}) => {
  const request = { organizer: "org", event: "fest", position: 1, question: 1, ...place };
  const { name, contentType, content } = await getAnswerFile(request, { db, files });
  return [name, contentType, textIn(content)];
};
const notFound = { kind: "not_found", code: "answer_file_not_found" };

const hour = 3_600_000_000;
const clean = (afterMicros: number, store = files) =>
  removeAnswerFiles({ db, files: store, clock: { now: () => systemClock.now() + afterMicros } }).run(call.signal);
const keys = async () => (await collect(files.list(""))).map(({ key }) => key);
const namedKeys = async () =>
  (await db.many<{ file_key: string }>(sql`select answer_file.file_key from answer_file`)).map((row) => row.file_key);

const answersOf = async () =>
  (
    await db.one<{ answers: { answer: string }[] }>(sql`
      select "order".data -> 'positions' -> 0 -> 'answers' as answers from "order"`)
  ).answers.map(({ answer }) => answer);
const publishedAnswers = async () =>
  (await takeFacts(db)).map(({ value }) => (value as { position: { answers: object[] } } | null)?.position.answers);

describe("an answer that is a file", () => {
  it("[R3.44] is stored beside its order, which holds and publishes a reference", async () => {
    await take(picture());
    expect(await get()).toEqual(["me.png", "image/png", "picture"]);
    const [reference = ""] = await answersOf();
    expect(reference).toMatch(/^file:image\/png;\d+;[0-9a-f]{64}$/);
    expect(await publishedAnswers()).toEqual([
      [expect.objectContaining({ question: 1, answer: reference, file: true })],
    ]);
    expect(await keys()).toEqual(await namedKeys());
  });

  it("is given with those of other answers, in order, as far as there is room", async () => {
    const large = (text: string) => dataUrl(text.repeat(3_000_000), "application/pdf");
    await take(
      sample.order({
        positions: [onePicture, large("a"), large("b")].map((answer, index) =>
          position({ id: index + 1, positionid: index + 1, secret: `s${index}`, answers: [{ question: 1, answer }] }),
        ),
      }),
    );
    const ask = async (...answers: [position: number, question: number][]) => {
      const asked = answers.map(([position, question]) => ({ position, question }));
      const { files: found } = await getAnswerFiles({ organizer: "org", event: "fest", answers: asked }, { db, files });
      return found.map(({ file }) => file && textIn(file.content).slice(0, 7));
    };
    expect(await ask([9, 1], [1, 1], [1, 2], [2, 1])).toEqual([undefined, "picture", undefined, "aaaaaaa"]);
    expect(await ask([3, 1], [2, 1], [1, 1])).toEqual(["bbbbbbb"]);
    const many = Array.from({ length: 101 }, (): [number, number] => [1, 1]);
    await expect(ask(...many)).rejects.toMatchObject({ kind: "invalid", code: "too_many_answer_files" });
  });

  it("changes nothing when it is sent again", async () => {
    await take(picture());
    const before = await answersOf();
    await takeFacts(db);
    await take(picture());
    await take(picture());
    expect(await takeFacts(db)).toEqual([]);
    expect(await answersOf()).toEqual(before);
    expect(await get()).toEqual(["me.png", "image/png", "picture"]);
    await clean(2 * hour);
    expect(await keys()).toEqual(await namedKeys());
    expect(await get()).toEqual(["me.png", "image/png", "picture"]);
  });

  it("is found again when it is sent again after the store has lost it", async () => {
    await take(picture());
    await files.remove(await keys());
    await expect(get()).rejects.toMatchObject({ kind: "unavailable", code: "answer_file_missing" });
    await take(picture());
    expect(await get()).toEqual(["me.png", "image/png", "picture"]);
  });

  it("[R3.71] is replaced by another, and its bytes go", async () => {
    await take(picture());
    const [old] = await keys();
    await takeFacts(db);
    await take(picture("another", { file_name: null, answer: dataUrl("another", "application/pdf") }));
    expect(await get()).toEqual(["answer.pdf", "application/pdf", "another"]);
    expect(await takeFacts(db)).toHaveLength(1);
    await clean(2 * hour);
    expect(await keys()).not.toContain(old);
    expect(await get()).toEqual(["answer.pdf", "application/pdf", "another"]);
  });

  it.each([
    ["its order comes without it", answered([])],
    ["its answer is text", answered([{ question: 1, answer: "lost" }])],
    ["its answer is empty", answered([{ question: 1, answer: "" }])],
    ["its order is gone", record("order", { code: "ABCDE" }, { deleted: true })],
    ["its event is gone", record("event", { slug: "fest" }, { deleted: true })],
  ])("goes when %s", async (_name, change) => {
    await take(picture());
    await take(change);
    await expect(get()).rejects.toMatchObject(notFound);
    expect(await namedKeys()).toEqual([]);
    await clean(2 * hour);
    expect(await keys()).toEqual([]);
  });

  it("goes with its position to the order that takes it over, if that has it too", async () => {
    const stays = position({ id: 2, positionid: 2 });
    const moves = position({ answers: [{ question: 1, answer: dataUrl("picture") }] });
    await take(sample.order({ positions: [moves, stays] }));
    await take(sample.order({ positions: [stays] }), sample.order({ code: "SPLIT", positions: [moves] }));
    expect(await get()).toEqual(["answer.png", "image/png", "picture"]);
  });

  it("is that of its position, question and event alone", async () => {
    const others = ["two", "Fest"].flatMap((event) =>
      [sample.event({ slug: event }), sample.item(), sample.question({ type: "F" }), picture(event)].map((each) => ({
        ...each,
        event,
      })),
    );
    await take(picture(), ...others);
    expect(await Promise.all(["fest", "two", "Fest"].map((event) => get({ event })))).toMatchObject([
      [{}, {}, "picture"],
      [{}, {}, "two"],
      [{}, {}, "Fest"],
    ]);
    for (const place of [{ position: 2 }, { question: 2 }, { event: "three" }]) {
      await expect(get(place)).rejects.toMatchObject(notFound);
    }
  });

  it("may be large", async () => {
    const content = "x".repeat(10 * 1024 * 1024 - fileWith("image/png", "").length);
    await take(picture(content));
    expect((await get())[2]).toBe(content);
    expect((await answersOf())[0]?.length).toBeLessThan(100);
  });

  it.each([
    ["of a type that is not taken", toDataUrl(Buffer.from("x"), "text/html"), /Files of this type/],
    ["that is empty", "data:image/png;base64,", /The file is empty/],
    ["that is too large", dataUrl("x".repeat(10 * 1024 * 1024 + 1)), /The file is larger than 10 MiB/],
    ["that is cut off", `${dataUrl("x".repeat(100_000))}!`, /.*not base64/],
    ["that is another type than it says", toDataUrl(Buffer.from("<script>")), /.*not a valid PNG/],
    ["that is cut off within", toDataUrl(aPng().subarray(0, -4)), /The image is cut off/],
    ["that is too large to be shown", toDataUrl(aPng({ width: 10_001 })), /The image has 10001 x 1 pixels/],
    ["that runs a script", toDataUrl(scripted, "application/pdf"), /The PDF holds JavaScript/],
  ])("[R3.44, R3.91] %s is left out without being quoted", async (_name, answer, message) => {
    const rejected = await office.apply(
      answered([
        { question: 2, answer: "geheim" },
        { question: 1, answer },
      ]),
    );
    expect(rejected).toEqual({ 1: { "positions.0.answers.1": [expect.stringMatching(message)] } });
    expect(await keys()).toEqual([]);
  });

  it("is the only one of its question", async () => {
    const answer = { question: 1, answer: dataUrl("x") };
    expect(await office.apply(answered([answer, answer]))).toEqual({
      1: { "positions.0.answers.1": [expect.stringMatching(/Question 1 .* already/)] },
    });
  });

  it("belongs to a question that is known", async () => {
    const rejected = await office.apply(answered([{ question: 9, answer: dataUrl("x") }]));
    expect(Object.keys(rejected[1] ?? {})).toEqual(["positions.0.answers.0"]);
  });

  it("[D4.11] leaves none of its bytes where its order is refused, beside one that is taken", async () => {
    const taken = answered([{ question: 1, answer: dataUrl("taken") }]);
    const { data } = answered([
      { question: 9, answer: "no such question" },
      { question: 1, answer: dataUrl("refused") },
    ]);
    const refused = { ...taken, data: { ...(data as object), code: "OTHER" } };
    expect(Object.keys(await office.apply(taken, refused))).toEqual(["2"]);
    expect(await keys()).toHaveLength(1);
    expect(await get()).toEqual(expect.arrayContaining(["taken"]));
  });
});

describe("an answer that only looks like a file", () => {
  it("is text where the question asks for text", async () => {
    const texts = [
      dataUrl("picture"),
      toDataUrl(scripted, "application/pdf"),
      "data:;base64,!",
      `file:image/png;7;${"0".repeat(64)}`,
    ];
    for (const text of texts) {
      await take(
        answered([
          { question: 1, answer: dataUrl("beside it") },
          { question: 2, answer: text },
        ]),
      );
      expect((await answersOf())[1]).toBe(text);
      expect((await publishedAnswers()).at(-1)?.[1]).toMatchObject({ question: 2, answer: text, file: undefined });
      expect((await get())[2]).toBe("beside it");
      await expect(get({ question: 2 })).rejects.toMatchObject(notFound);
    }
  });

  it("is no longer than other text there", async () => {
    const long = dataUrl("x".repeat(64 * 1024));
    const warned = { 1: { "positions.0.answers.0": [expect.stringMatching(/65536/)] } };
    expect(await office.apply(answered([{ question: 2, answer: long }]))).toEqual(warned);
    expect(await office.apply(answered([{ question: 1, answer: long }]))).toEqual({});
    expect(Object.keys((await office.apply(answered([{ question: 1, answer: `x${long}` }])))[1] ?? {})).toEqual([
      "positions.0.answers.0.answer",
    ]);
  });

  it("is kept as what another system shows of its file", async () => {
    await take(answered([{ question: 1, answer: "https://shop.example/answer/1/" }]));
    expect(await answersOf()).toEqual(["https://shop.example/answer/1/"]);
    expect(await publishedAnswers()).toEqual([[expect.objectContaining({ file: undefined })]]);
  });
});

describe("a reference to a file", () => {
  it("keeps the file that is stored there", async () => {
    await take(picture());
    const [reference = ""] = await answersOf();
    await takeFacts(db);
    await take(answered([{ question: 1, answer: reference, file_name: "me.png" }]));
    expect(await takeFacts(db)).toEqual([]);
    expect(await get()).toEqual(["me.png", "image/png", "picture"]);
  });

  it("is text where another file is stored, and leads to no other's", async () => {
    await take(picture());
    const [reference = ""] = await answersOf();
    const other = (answer: string) =>
      sample.order({ code: "OTHER", positions: [position({ id: 2, answers: [{ question: 1, answer }] })] });
    await takeFacts(db);
    await take(other(reference));
    expect(await publishedAnswers()).toEqual([[expect.objectContaining({ answer: reference, file: undefined })]]);
    await expect(get({ position: 2 })).rejects.toMatchObject(notFound);
    await take(other(dataUrl("mine")));
    await take(other(reference));
    await expect(get({ position: 2 })).rejects.toMatchObject(notFound);
    expect(await get()).toEqual(["me.png", "image/png", "picture"]);
  });
});

describe("bytes without a row", () => {
  const orphan = keyOfFile({ organizer: "org", event: "fest" }, "01234567-89ab-cdef-0123-456789abcdef");
  const foreign = ["answers/readme", "answers/x/y", "uploads/1"];

  it("go an hour later; what is named, young or of somebody else stays", async () => {
    await take(picture());
    for (const key of [orphan, ...foreign]) await files.put(key, Buffer.from("x"), { contentType: "text/plain" });
    await clean(hour / 2);
    expect(await keys()).toContain(orphan);
    await Promise.all([clean(2 * hour), clean(2 * hour), clean(2 * hour)]);
    expect((await keys()).toSorted()).toEqual([...foreign, ...(await namedKeys())].toSorted());
    expect(await get()).toEqual(["me.png", "image/png", "picture"]);
  });

  it("are those of orders that were refused while the store was away", async () => {
    const away: Files = { ...files, remove: () => Promise.reject(new Error("the store is away")) };
    await boxOfficeOn(db, { files: away }).apply(answered([{ question: 1, answer: dataUrl("x") }], { item: 9 }));
    expect(await keys()).toHaveLength(1);
    await clean(2 * hour);
    expect(await keys()).toEqual([]);
  });

  it("go also when there are many", async () => {
    await take(picture());
    const [named = ""] = await namedKeys();
    const removed: string[] = [];
    const many: Files = {
      ...files,
      async *list() {
        for (let count = 0; count < 1100; count += 1) {
          yield { key: orphan.replace(/^(.{50}).{4}/, `$1${String(count).padStart(4, "0")}`), size: 1, storedAt: 0 };
        }
        yield { key: named, size: 1, storedAt: 0 };
      },
      async remove(gone) {
        removed.push(...gone);
      },
    };
    await clean(0, many);
    expect(new Set(removed).size).toBe(1100);
    expect(removed).not.toContain(named);
  });

  it("never come to be named, not even when the same bytes are sent while they are removed", async () => {
    await take(picture());
    await take(answered([]));
    const slow: Files = {
      ...files,
      async remove(gone) {
        expect(gone).toHaveLength(1);
        await take(picture());
        await files.remove(gone);
      },
    };
    await clean(2 * hour, slow);
    expect(await keys()).toEqual(await namedKeys());
    expect(await get()).toEqual(["me.png", "image/png", "picture"]);
  });
});

describe("a store that is away", () => {
  it("leaves everything as it was, and the batch comes again", async () => {
    const away: Files = {
      ...files,
      put: () => Promise.reject(new Fault("unavailable", "files_unavailable", "the store is away")),
    };
    await expect(boxOfficeOn(db, { files: away }).apply(sample.gate(), picture())).rejects.toMatchObject({
      code: "files_unavailable",
    });
    expect(
      await db.many(sql`select "order".code from "order" union all select gate.data ->> 'name' from gate`),
    ).toEqual([]);
    await take(sample.gate(), picture());
    expect(await get()).toEqual(["me.png", "image/png", "picture"]);
  });
});
