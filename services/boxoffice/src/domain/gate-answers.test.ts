import { describe, expect, it } from "vitest";
import { findChanged, type GateAnswer, mergeAnswers } from "./gate-answers.ts";

const answer = (question: number, text: string) => ({ question, answer: text, options: [] as number[] });
type Text = ReturnType<typeof answer>;
const row = (changes: Partial<GateAnswer<Text>>): GateAnswer<Text> => ({
  question: 2,
  revision: null,
  answer: null,
  awaitedRevision: null,
  ...changes,
});

const recorded = { id: 7, answers: [answer(3, "three"), answer(2, "red"), answer(2, "or blue"), answer(1, "one")] };

describe("mergeAnswers", () => {
  it.each([
    ["no row: the record's answer", [], recorded.answers, 9],
    ["an answer: that", [row({ revision: 5, answer: answer(2, "green") })], ["three", "one", "green"], 9],
    ["a revision without an answer: none", [row({ revision: 5 })], ["three", "one"], 9],
    ["a file is awaited: the record's answer", [row({ awaitedRevision: 6 })], recorded.answers, 5, [2]],
    [
      "a file is awaited behind an answer: that",
      [row({ revision: 5, answer: answer(2, "green"), awaitedRevision: 8 })],
      ["three", "one", "green"],
      7,
      [2],
    ],
    ["a file is awaited behind a removal: none", [row({ revision: 5, awaitedRevision: 8 })], ["three", "one"], 7, [2]],
    [
      "several: by question, below the first that is awaited",
      [
        row({ question: 4, revision: 9, answer: answer(4, "four") }),
        row({ question: 3, awaitedRevision: 8 }),
        row({ question: 1, revision: 4, answer: answer(1, "uno"), awaitedRevision: 7 }),
      ],
      ["three", "red", "or blue", "uno", "four"],
      6,
      [1, 3],
    ],
  ])("%s", (_name, answers, expected, answersRevision, awaited: number[] = []) => {
    const texts = expected.map((each) => (typeof each === "string" ? each : each.answer));
    const merged = mergeAnswers(recorded, { upTo: 9, answers });
    expect(merged).toMatchObject({ id: 7, answersRevision });
    expect(merged.awaitedFiles).toEqual(awaited.length === 0 ? undefined : { answersUpTo: 9, questions: awaited });
    expect(merged.answers.map((each) => each.answer)).toEqual(texts);
  });
});

describe("findChanged", () => {
  const before = [answer(1, "one"), answer(2, "red"), answer(2, "or blue"), { ...answer(3, ""), options: [5, 6] }];

  it.each([
    ["the same", before, []],
    ["the same in another order", [{ ...answer(3, ""), options: [6, 5] }, ...before.slice(0, 3).reverse()], []],
    ["less", [answer(1, "one")], []],
    ["another text", [answer(1, "uno")], [1]],
    ["other options", [{ ...answer(3, ""), options: [5] }], [3]],
    ["one of several", [answer(2, "red")], [2]],
    ["a question for the first time", [answer(4, "four")], [4]],
  ])("%s", (_name, now, expected) => {
    expect(findChanged(before, now)).toEqual(expected);
  });
});
