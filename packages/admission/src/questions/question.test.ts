import { describe, expect, it } from "vitest";
import { readQuestion } from "./question.ts";

const document = JSON.stringify({
  id: 7,
  question: { en: "Which meal?" },
  type: "C",
  required: true,
  items: [1],
  options: [
    { id: 12, identifier: "TOFU", position: 1, answer: { en: "Tofu" } },
    { id: 13, identifier: "FISH", position: 0, answer: { en: "Fish" } },
    { id: 11, identifier: "MEAT", position: 1, answer: { en: "Meat" } },
  ],
  position: 3,
  ask_during_checkin: true,
  identifier: "MEAL",
  dependency_question: 5,
  dependency_values: ["True"],
  valid_number_min: "1.000000",
  valid_number_max: null,
  valid_date_min: null,
  valid_date_max: "2026-02-28",
  valid_datetime_min: "2026-01-01T00:00:00Z",
  valid_datetime_max: null,
  valid_string_length_min: null,
  valid_string_length_max: 9,
});

describe("readQuestion", () => {
  it("reads what counts at the gate, and keeps the resource as it is", () => {
    expect(readQuestion(document)).toEqual({
      id: 7,
      type: "C",
      required: true,
      identifier: "MEAL",
      options: [
        { id: 13, identifier: "FISH", position: 0, answer: { en: "Fish" } },
        { id: 11, identifier: "MEAT", position: 1, answer: { en: "Meat" } },
        { id: 12, identifier: "TOFU", position: 1, answer: { en: "Tofu" } },
      ],
      dependsOn: 5,
      dependencyValues: ["True"],
      numbers: { least: "1.000000", most: null },
      days: { least: null, most: "2026-02-28" },
      moments: { least: "2026-01-01T00:00:00Z", most: null },
      lengths: { least: null, most: 9 },
      document,
    });
  });

  it.each([
    ["", SyntaxError],
    ["{", SyntaxError],
    ["null", TypeError],
    ["{}", TypeError],
    ['{"id": 7}', TypeError],
  ])("throws for a document that is not a question, each time: %j", (text, error) => {
    expect(() => readQuestion(text)).toThrow(error);
    expect(() => readQuestion(text)).toThrow(error);
  });
});
