import { describe, expect, it } from "vitest";
import { position, ticket } from "../../testing/print-ticket.ts";
import { textOf, textsOf } from "../../testing/printed-texts.ts";

describe("answers", () => {
  const options = [
    { id: 11, identifier: "VEGAN", answer: { en: "Vegan", de: "Pflanzlich" } },
    { id: 12, identifier: "FISH", answer: { en: "Fish", de: "Fisch" } },
  ];
  const asked = (
    type: string,
    text: string,
    rest: { readonly chosen?: (number | string)[]; readonly locale?: string } = {},
  ) =>
    ticket({
      order: { locale: rest.locale ?? "en" },
      questions: [{ id: 7, identifier: "DIET", type, options }],
      position: position({
        answers: [{ question: 7, text, chosen: rest.chosen ?? [], fileType: null }],
      }),
    });

  it.each([
    ["N", "12.50", "12.50"],
    ["S", "<b>anything</b> & more", "<b>anything</b> & more"],
    ["T", "two\nlines", "two\nlines"],
    ["B", "True", "Yes"],
    ["B", "False", "No"],
    ["D", "2025-12-07", "2025-12-07"],
    ["D", "2025-02-30", "2025-02-30"],
    ["D", "tomorrow", "tomorrow"],
    ["H", "20:05", "20:05"],
    ["H", "08:05:30", "08:05"],
    ["H", "25:00", "25:00"],
    ["W", "2025-12-27T19:05:00Z", "2025-12-27 20:05"],
    ["W", "2025-06-30T23:59:60Z", "2025-06-30T23:59:60Z"],
    ["CC", "DE", "Germany"],
    ["CC", "ZZZ", "ZZZ"],
    ["TEL", "+4930123456", "+49 30 123456"],
    ["TEL", "call me", "call me"],
    ["?", "of a later version", "of a later version"],
  ])("[L16.1] to a question of type %s that are %s are printed as %s", (type, text, expected) => {
    expect(textOf("question_DIET", asked(type, text))).toBe(expected);
  });

  it("[L16.1] are printed in the language of the order", () => {
    const inGerman = (type: string, text: string) => textOf("question_DIET", asked(type, text, { locale: "de" }));
    expect([inGerman("B", "True"), inGerman("D", "2025-12-07"), inGerman("CC", "AT")]).toEqual([
      "Ja",
      "07.12.2025",
      "Österreich",
    ]);
  });

  it("[L16.2] are the texts of the chosen options, and what was stored where one is gone", () => {
    const chosen = (options: (number | string)[], locale = "en") =>
      textOf("question_DIET", asked("M", "as it was", { chosen: options, locale }));
    expect(chosen(["FISH", "VEGAN"])).toBe("Fish, Vegan");
    expect(chosen(["FISH"], "de")).toBe("Fisch");
    expect(chosen([12, 11], "de")).toBe("Fisch, Pflanzlich");
    expect(chosen([12, 13])).toBe("as it was");
    expect(chosen(["FISH", "GONE"])).toBe("as it was");
    expect(chosen([])).toBe("as it was");
  });

  it("[L16.3] are the ticket's own, else those of what it was added to", () => {
    const answered = (text: string) => position({ answers: [{ question: 7, text, chosen: [], fileType: null }] });
    const questions = [{ id: 7, identifier: "DIET", type: "S", options: [] }];
    expect(textsOf(ticket({ questions, parent: answered("theirs") }))).toMatchObject({ question_DIET: "theirs" });
    expect(textsOf(ticket({ questions, position: answered("own"), parent: answered("theirs") }))).toMatchObject({
      question_DIET: "own",
    });
    expect(textsOf(ticket({ questions }))).toMatchObject({ question_DIET: "" });
  });

  it("[L16.4] are found by the identifier of the question, else by its id", () => {
    const answer = (question: number) => ({ question, text: `to ${question}`, chosen: [], fileType: null });
    const printed = ticket({
      questions: [
        { id: 1, identifier: "2", type: "S", options: [] },
        { id: 2, identifier: "B", type: "S", options: [] },
      ],
      position: position({ answers: [answer(1), answer(2)] }),
    });
    expect(textsOf(printed, "question_1", "question_b")).toMatchObject({
      question_1: "to 1",
      question_2: "to 1",
      question_B: "to 2",
      question_b: "",
    });
  });

  it("[L16.5] that are files are no texts", () => {
    expect(textOf("question_DIET", asked("F", "file:image/png;1;00"))).toBe("");
  });
});
