import { longestTurn } from "@tessera/testkit/longest-turn";
import { anything, array, assert, constantFrom, integer, jsonValue, oneof, property, record, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { readerOf } from "../testing/decisions.ts";
import { question as anyQuestion } from "../testing/read-answers.ts";
import { answerQuestions, type SentAnswer, type StoredAnswer } from "./answer-questions.ts";
import type { Question, QuestionType } from "./question.ts";

interface Fields {
  readonly id?: number;
  readonly type?: QuestionType;
  readonly required?: boolean;
  readonly options?: readonly object[];
  readonly dependency_question?: number;
  readonly dependency_values?: readonly string[];
  readonly valid_string_length_max?: number;
}

function question(fields: Fields = {}): Question {
  const { id = 1, type = "S" } = fields;
  return anyQuestion(type, { identifier: `Q${id}`, options: [], ...fields });
}

const menu = [
  { id: 11, identifier: "MEAT", position: 2, answer: { en: "Meat" } },
  { id: 12, identifier: "TOFU", position: 1, answer: { en: "Tofu" } },
  { id: 13, identifier: "FISH", position: 3, answer: { en: "Fish" } },
];

interface Visit {
  /** Values by question. */
  readonly sent?: Readonly<Record<number, unknown>>;
  readonly stored?: Readonly<Record<number, string | StoredAnswer>>;
}

function ask(questions: readonly Question[], { sent = {}, stored = {} }: Visit = {}) {
  return answerQuestions({
    questions,
    sent: Object.entries(sent).map(([id, value]) => ({ question: Number(id), value, file: null })),
    stored: new Map(
      Object.entries(stored).map(([id, answer]) => [
        Number(id),
        typeof answer === "string" ? { text: answer, optionIdentifiers: [] } : answer,
      ]),
    ),
    reader: readerOf("Europe/Berlin", "en"),
  });
}

/** The changes, as text (null: deleted), and the ids of the open questions. */
function outcome(questions: readonly Question[], visit?: Visit) {
  const { given, missing } = ask(questions, visit);
  return {
    given: Object.fromEntries(given.map(({ question, answer }) => [question, answer?.text ?? null])),
    missing: missing.map(({ id }) => id),
  };
}

describe("answerQuestions", () => {
  it("asks nothing where there is no question", () => {
    expect(ask([], { sent: { 1: "x" } })).toEqual({ given: [], missing: [] });
  });

  it.each([true, false])("[C5.1] leaves a question open that has no answer, be it required (%j) or not", (required) => {
    expect(outcome([question({ required })])).toEqual({ given: {}, missing: [1] });
  });

  it("[C5.1] accepts a stored answer", () => {
    expect(outcome([question({ required: true })], { stored: { 1: "before" } })).toEqual({ given: {}, missing: [] });
  });

  it("[C5.1] accepts a sent answer, and returns all of it", () => {
    const asked = [question({ id: 3, type: "M", options: menu, required: true })];
    expect(ask(asked, { sent: { 3: "11,TOFU" } })).toEqual({
      given: [
        {
          question: 3,
          answer: {
            text: "Tofu, Meat",
            questionIdentifier: "Q3",
            options: [12, 11],
            optionIdentifiers: ["TOFU", "MEAT"],
            file: null,
          },
        },
      ],
      missing: [],
    });
  });

  it("[C5.1] passes on the file of an answer", () => {
    const sha256 = "0f".repeat(32);
    const file = { upload: "5d1c", name: "me.png", contentType: "image/png", size: 9, sha256 };
    const sent = [{ question: 1, value: "file:5d1c", file }];
    const visit = { questions: [question({ type: "F" })], sent, stored: new Map(), reader: readerOf("UTC", "en") };
    expect(answerQuestions(visit)).toMatchObject({
      given: [{ question: 1, answer: { text: `file:image/png;9;${sha256}`, file } }],
      missing: [],
    });
  });

  it("[C5.2] names open questions in the order in which they are asked, whole", () => {
    const asked = [question({ id: 9 }), question({ id: 2, dependency_question: 5, dependency_values: ["x"] })];
    asked.push(question({ id: 5 }), question({ id: 4 }));
    const { missing } = ask(asked, { sent: { 5: "x" } });
    expect(missing).toEqual([asked[0], asked[1], asked[3]]);
  });

  it("[C5.3] treats a value that is not allowed as missing", () => {
    const short = [question({ valid_string_length_max: 2 })];
    expect(outcome(short, { sent: { 1: "abc" } })).toEqual({ given: {}, missing: [1] });
    expect(outcome(short, { sent: { 1: "abc" }, stored: { 1: "ab" } })).toEqual({ given: {}, missing: [] });
  });

  it("[C5.3] takes valid answers beside one that is not allowed", () => {
    const asked = [question({ id: 1, type: "N" }), question({ id: 2 })];
    expect(outcome(asked, { sent: { 1: "many", 2: "x" } })).toEqual({ given: { 2: "x" }, missing: [1] });
  });

  it("[C5.4] replaces a stored answer by a valid one", () => {
    expect(outcome([question()], { sent: { 1: "now" }, stored: { 1: "before" } }).given).toEqual({ 1: "now" });
  });

  it.each([[""], [null], [[]]])("[C5.5] is content with %j for an optional question", (value) => {
    expect(outcome([question()], { sent: { 1: value } })).toEqual({ given: {}, missing: [] });
  });

  it.each([[""], [null], [[]]])("[C5.5] takes a stored answer back for %j", (value) => {
    const taken = outcome([question()], { sent: { 1: value }, stored: { 1: "before" } });
    expect(taken).toEqual({ given: { 1: null }, missing: [] });
  });

  it.each([[""], [null], [[]]])("[C5.5] is not content with %j for a required question", (value) => {
    const required = [question({ required: true })];
    expect(outcome(required, { sent: { 1: value } })).toEqual({ given: {}, missing: [1] });
    expect(outcome(required, { sent: { 1: value }, stored: { 1: "before" } })).toEqual({ given: {}, missing: [] });
  });

  it("[C5.6] takes false and 0 for answers, with a stored one and without", () => {
    const asked = [question({ id: 1, type: "B" }), question({ id: 2, type: "N" })];
    const sent = { 1: false, 2: 0 };
    expect(outcome(asked, { sent })).toEqual({ given: { 1: "False", 2: "0" }, missing: [] });
    expect(outcome(asked, { sent, stored: { 1: "True", 2: "3" } }).given).toEqual({ 1: "False", 2: "0" });
  });

  it("[C5.26] ignores values for what the ticket is not asked", () => {
    expect(outcome([question()], { sent: { 1: "x", 7: "y" }, stored: { 7: "z" } }).given).toEqual({ 1: "x" });
  });

  it("counts the last of several values for a question", () => {
    const sent = ["first", "last"].map((value) => ({ question: 1, value, file: null }));
    const { given } = answerQuestions({
      questions: [question()],
      sent,
      stored: new Map(),
      reader: readerOf("UTC", "en"),
    });
    expect(given.map(({ answer }) => answer?.text)).toEqual(["last"]);
  });

  it("reads what the browser scanner sends", () => {
    const asked = (["N", "B", "H", "D", "W", "M", "S", "CC"] as const).map((type, index) =>
      question({ id: index + 1, type, options: type === "M" ? menu : [] }),
    );
    const sent = {
      1: 3,
      2: "true",
      3: "18:30:00",
      4: "1990-05-17",
      5: "2030-01-02T07:15:00.000Z",
      6: "11,13",
      7: "",
      8: "DE",
    };
    expect(outcome(asked, { sent })).toEqual({
      given: {
        1: "3",
        2: "True",
        3: "18:30:00",
        4: "1990-05-17",
        5: "2030-01-02 07:15:00+00:00",
        6: "Meat, Fish",
        8: "DE",
      },
      missing: [],
    });
  });
});

describe("a question that depends on another", () => {
  const meal = question({ id: 1, type: "C", options: menu });
  const cooking = question({ id: 2, dependency_question: 1, dependency_values: ["MEAT", "FISH"] });
  const stored = (...optionIdentifiers: string[]) => ({ 1: { text: "what it says", optionIdentifiers } });

  it.each([
    ["an option that was just chosen", { sent: { 1: 11 } }, [2]],
    ["an option that was chosen before", { stored: stored("FISH") }, [2]],
    ["one of several options", { stored: stored("TOFU", "MEAT") }, [2]],
    ["what was chosen before, where the new choice is not allowed", { sent: { 1: 99 }, stored: stored("MEAT") }, [2]],
    ["another option", { sent: { 1: 12 } }, []],
    ["another option than before", { sent: { 1: 12 }, stored: stored("MEAT") }, []],
    ["no option any more", { sent: { 1: "" }, stored: stored("MEAT") }, []],
    ["nothing yet", {}, [1]],
  ])("[C5.27] follows %s", (_name, visit: Visit, missing) => {
    expect(outcome([meal, cooking], visit).missing).toEqual(missing);
    expect(outcome([cooking, meal], visit).missing).toEqual(missing);
  });

  it.each([
    ["True", ["True"], [2]],
    ["False", ["True"], []],
    ["True", [], []],
    ["Blue", ["Red", "Blue"], [2]],
  ])(
    "[C5.27] follows the text %j of a question that is not asked here, if it is one of %j",
    (text, values, missing) => {
      const dependent = question({ id: 2, dependency_question: 1, dependency_values: values });
      expect(outcome([dependent], { stored: { 1: text } }).missing).toEqual(missing);
    },
  );

  it.each([
    [true, [2]],
    [false, []],
  ])("[C5.27] follows a yes or no that is just said: %j", (value, missing) => {
    const agree = question({ id: 1, type: "B" });
    const dependent = question({ id: 2, dependency_question: 1, dependency_values: ["True"] });
    expect(outcome([agree, dependent], { sent: { 1: value } }).missing).toEqual(missing);
  });

  it("[C5.26, C5.27] takes no answer while it is not asked, and leaves one that is stored", () => {
    const visit = { sent: { 1: 12, 2: "well done" }, stored: { 2: "rare" } };
    expect(outcome([meal, cooking], visit)).toEqual({ given: { 1: "Tofu" }, missing: [] });
  });

  it("[C5.27] is not asked over another that is not asked, though that was answered once", () => {
    const sauce = question({ id: 3, dependency_question: 2, dependency_values: ["rare"] });
    const asked = [sauce, cooking, meal];
    expect(outcome(asked, { sent: { 1: 11 }, stored: { 2: "rare" } }).missing).toEqual([3]);
    expect(outcome(asked, { sent: { 1: 12 }, stored: { 2: "rare" } }).missing).toEqual([]);
  });

  it("[C5.28] is not asked where it depends on itself, in whatever order", () => {
    const link = (id: number, on: number) => question({ id, dependency_question: on, dependency_values: ["x"] });
    const circle = [link(1, 2), link(2, 3), link(3, 1), link(4, 3), link(5, 5)];
    const visit = { sent: { 1: "x", 2: "x", 3: "x", 4: "x", 5: "x" }, stored: { 1: "x", 2: "x", 3: "x", 5: "x" } };
    for (const start of circle.keys()) {
      const asked = [...circle.slice(start), ...circle.slice(0, start)];
      expect(outcome(asked, visit)).toEqual({ given: {}, missing: [] });
    }
  });

  it("[C5.28] may be at the end of a very long chain", () => {
    const chain = Array.from({ length: 10_000 }, (_, index) =>
      question({ id: index + 1, ...(index > 0 ? { dependency_question: index, dependency_values: ["x"] } : {}) }),
    ).reverse();
    const sent = Object.fromEntries(chain.slice(1).map(({ id }) => [id, "x"]));
    expect(outcome(chain, { sent }).missing).toEqual([10_000]);
  });
});

describe("whatever is sent", () => {
  const types: readonly QuestionType[] = ["N", "S", "T", "B", "C", "M", "F", "D", "H", "W", "CC", "TEL"];
  const asked = types.flatMap((type, index) =>
    [true, false].map((required) => question({ id: 2 * index + (required ? 1 : 2), type, required, options: menu })),
  );
  const likely = string({ unit: constantFrom(..."0123456789-:.,/+TZ eaMpmJn\0😀\u0301\ud800") });
  const values = oneof(jsonValue(), anything(), likely, string({ unit: "binary" }), array(integer()));

  it("[C5.8] is answered, never a failure, and what is taken can be stored", () => {
    const file = { upload: "5d1c", name: "a", contentType: "image/png", size: 1, sha256: "00" };
    const answers = array(
      record({ question: integer({ min: 0, max: 25 }), value: values, file: constantFrom(null, file) }),
    );
    assert(
      property(answers, constantFrom("en", "de", "x y"), (sent: readonly SentAnswer[], locale) => {
        const visit = { questions: asked, sent, stored: new Map(), reader: readerOf("Europe/Berlin", locale) };
        const { given, missing } = answerQuestions(visit);
        expect(given.length + missing.length).toBeLessThanOrEqual(asked.length);
        for (const { answer } of given) {
          expect(answer?.text.isWellFormed()).toBe(true);
          expect(answer?.text).not.toContain("\0");
        }
        // Nothing was stored that could be deleted.
        expect(given.every(({ answer }) => answer !== null)).toBe(true);
      }),
    );
  });

  it("[C5.8] takes little time, however long it is", async () => {
    const long = ["1".repeat(1e6), " ".repeat(1e6), "1,".repeat(5e5), "a".repeat(60_000), " ".repeat(65_000)];
    const askAll = async () => {
      for (const value of long) ask(asked, { sent: Object.fromEntries(asked.map(({ id }) => [id, value])) });
    };
    expect(await longestTurn(askAll, { enoughMs: 2000 })).toBeLessThan(2000);
  });
});
