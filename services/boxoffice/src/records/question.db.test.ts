import { sql } from "@tessera/kit/pg/sql";
import { beforeEach, describe, expect, it } from "vitest";
import { emptyOffice } from "../testing/empty-office.ts";
import { takeFacts } from "../testing/facts.ts";
import { festival, position, record, sample, type TestRecord } from "../testing/records.ts";

const office = emptyOffice();

beforeEach(async () => {
  await office.apply(...festival);
  await takeFacts(office.db);
});

const menu = [
  { id: 11, identifier: "MEAT", answer: { en: "Meat" } },
  { id: 12, position: 1, answer: { en: "Tofu", de: "Tofu" } },
];
const colors = sample.question({ id: 7, type: "M", options: [{ id: 71, answer: { en: "Red" } }] });
const removed = (id: number) => record("question", { id }, { deleted: true });
const fieldsOf = (errors: Record<string, unknown> | undefined) => Object.keys(errors ?? {}).sort();
const elsewhere = (sent: TestRecord) => ({ ...sent, event: "other" });
const ordered = (...answers: object[]) => sample.order({ positions: [position({ answers })] });

describe("a question", () => {
  it("[R2.5, R5.1] is kept whole, with defaults for what was not sent, and told of", async () => {
    const sent = {
      type: "C",
      items: ["1"],
      options: menu,
      position: 3,
      ask_during_checkin: true,
      help_text: { en: "Choose" },
      valid_number_min: 1,
      valid_date_max: " 2026-02-28 ",
      valid_datetime_min: "2026-01-01T01:00:00+01:00",
      valid_string_length_max: 9,
    };
    const kept = {
      id: 1,
      question: { en: "Vegetarian?" },
      type: "C",
      required: false,
      items: [1],
      options: [
        { id: 11, identifier: "MEAT", position: 0, answer: { en: "Meat" } },
        { id: 12, identifier: "12", position: 1, answer: { en: "Tofu", de: "Tofu" } },
      ],
      position: 3,
      ask_during_checkin: true,
      show_during_checkin: false,
      identifier: "1",
      dependency_question: null,
      dependency_values: [],
      hidden: false,
      dependency_value: null,
      print_on_invoice: false,
      help_text: { en: "Choose" },
      valid_number_min: "1.000000",
      valid_number_max: null,
      valid_date_min: null,
      valid_date_max: "2026-02-28",
      valid_datetime_min: "2026-01-01T00:00:00Z",
      valid_datetime_max: null,
      valid_string_length_min: null,
      valid_string_length_max: 9,
      valid_file_portrait: false,
    };
    expect(await office.apply(sample.question({ ...sent, unknown: 1 }))).toEqual({});
    expect(await office.db.many(sql`select data from question`)).toEqual([{ data: kept }]);
    const [fact, ...rest] = await takeFacts(office.db);
    expect(rest).toEqual([]);
    expect(fact).toMatchObject({
      topic: "question-changed",
      key: "org/fest/1",
      value: { organizer: "org", event: "fest", id: 1, items: [1], position: 3, askDuringCheckin: true },
    });
    expect(JSON.parse(Buffer.from(fact?.value?.["document"] as Uint8Array).toString())).toEqual(kept);
    await office.apply(sample.question(sent));
    expect(await takeFacts(office.db)).toEqual([]);
    await office.apply(sample.question({ type: "TEL" }), removed(1), removed(1));
    const [changed, gone, ...none] = await takeFacts(office.db);
    expect(Number(changed?.value?.["revision"])).toBeGreaterThan(Number(fact?.value?.["revision"]));
    expect([gone, none]).toEqual([{ topic: "question-changed", key: "org/fest/1", value: null }, []]);
  });

  it.each([
    ["of no known type", { type: "X" }, ["type"]],
    ["with a text that is none", { question: [] }, ["question"]],
    [
      "with limits that exclude everything",
      {
        valid_number_min: "12345678901234.000001".slice(4),
        valid_number_max: "5678901234",
        valid_date_min: "2026-02-02",
        valid_date_max: "2026-02-01",
        valid_datetime_min: "2026-02-01T00:00:00Z",
        valid_datetime_max: "2026-02-01T00:00:00+01:00",
        valid_string_length_min: 3,
        valid_string_length_max: 2,
      },
      ["valid_date_max", "valid_datetime_max", "valid_number_max", "valid_string_length_max"],
    ],
    [
      "with limits that are none",
      { valid_number_min: "x", valid_date_min: "2026-02-30", valid_date_max: 5, valid_string_length_min: -1 },
      ["valid_date_max", "valid_date_min", "valid_number_min", "valid_string_length_min"],
    ],
    [
      "with options that cannot be told apart",
      { options: [...menu, { id: 11, identifier: "x", answer: {} }, { id: 13, identifier: "MEAT", answer: {} }] },
      ["options.2.id", "options.3.identifier"],
    ],
    ["about unknown products", { items: [1, 9] }, ["items"]],
    ["with the option of another", { options: [{ id: 71, answer: {} }] }, ["options.0.id"]],
    ["with the identifier of another", { identifier: "7" }, ["identifier"]],
    ["that depends on an unknown one", { dependency_question: 99 }, ["dependency_question"]],
    ["that depends on one of another event", { dependency_question: 8 }, ["dependency_question"]],
    ["That depends on itself.", { dependency_question: 1 }, ["dependency_question"]],
  ])("[R3.27, R3.28, R3.29] %s is taken, and its fields are named", async (_name, fields, expected) => {
    await office.apply(colors, ...[sample.event({ slug: "other" }), sample.question({ id: 8 })].map(elsewhere));
    await takeFacts(office.db);
    const { rejected, warned } = await office.applyApart(sample.question(fields));
    expect([rejected, fieldsOf(warned[1])]).toEqual([{}, expected]);
    expect(await takeFacts(office.db)).toMatchObject([{ topic: "question-changed", key: "org/fest/1" }]);
  });

  it("[R3.29] that is asked at check-in may depend on one, also on another that is asked there", async () => {
    const asked = { ask_during_checkin: true };
    expect(
      await office.apply(
        sample.question({ id: 7, ...asked }),
        sample.question({
          ...asked,
          dependency_question: 7,
          valid_number_min: "1.000000",
          valid_number_max: "0.000000",
        }),
      ),
    ).toEqual({ 2: { valid_number_max: ["It is below `valid_number_min`."] } });
    const [row] = await office.db.many<{ data: unknown }>(sql`select data from question where id = 1`);
    expect(row?.data).toMatchObject({
      valid_number_min: "1.000000",
      valid_number_max: "0.000000",
      dependency_question: 7,
    });
  });

  it("may depend on one of the same batch, before or behind it", async () => {
    const dependent = sample.question({ dependency_question: 7, dependency_value: "71" });
    expect(await office.apply(dependent, colors)).toEqual({});
    const [row] = await office.db.many<{ data: Record<string, unknown> }>(sql`select data from question where id = 1`);
    expect(row?.data).toMatchObject({ dependency_values: ["71"], dependency_value: "71" });
    expect(await office.apply(sample.question({ id: 7, type: "N" }))).toEqual({});
    expect(fieldsOf((await office.apply(dependent))[1])).toEqual(["dependency_question"]);
  });

  it("[R3.29] does not depend on itself over others, and takes no other along that depends on it alone", async () => {
    const chain = [
      sample.question({ id: 1, dependency_question: 2 }),
      sample.question({ id: 2, dependency_question: 3 }),
      sample.question({ id: 3, dependency_question: 1 }),
      sample.question({ id: 4 }),
    ];
    const rejected = await office.apply(...chain);
    expect(Object.entries(rejected).map(([line, errors]) => [line, fieldsOf(errors)])).toEqual([
      ["1", ["dependency_question"]],
      ["2", ["dependency_question"]],
      ["3", ["dependency_question"]],
    ]);
  });

  it("may swap its identifier and its options with another of the batch", async () => {
    const [one, other] = [
      { identifier: "A", options: [menu[0]] },
      { identifier: "B", options: [menu[1]] },
    ];
    await office.apply(sample.question({ type: "C", ...one }), sample.question({ id: 2, type: "C", ...other }));
    const swapped = [sample.question({ type: "C", ...other }), sample.question({ id: 2, type: "C", ...one })];
    expect(await office.apply(...swapped)).toEqual({});
  });

  it("[R3.30, R5.6] stays while another depends on it or an order answers it", async () => {
    await office.apply(colors, sample.question({ dependency_question: 7 }), ordered({ question: 7, options: [71] }));
    const message = "Answers in orders and other questions refer to it; remove or change those first.";
    expect(await office.apply(removed(7))).toEqual({ 1: { non_field_errors: [message] } });
    await office.apply(removed(1), ordered());
    expect(await office.apply(removed(7))).toEqual({});
  });

  it("[R3.14, R3.26] keeps its products, and goes with its event", async () => {
    await office.apply(sample.question({ items: [1] }));
    expect(await office.apply(record("item", { id: 1 }, { deleted: true }))).toEqual({
      1: { non_field_errors: ["Questions refer to it; remove or change those first."] },
    });
    await takeFacts(office.db);
    await office.apply(record("event", { slug: "fest" }, { deleted: true }));
    expect((await takeFacts(office.db)).map(({ topic }) => topic)).toContain("question-changed");
    expect(await office.db.many(sql`select id from question`)).toEqual([]);
  });
});

describe("an answer", () => {
  beforeEach(() => office.apply(colors, sample.question({ type: "C", options: menu })));

  it("[R3.42] refers to a question of the event and to its options", async () => {
    const answers = [
      { question: 1, options: [11, 12] },
      { question: 9, options: [1] },
      { question: 7, options: [71, 11] },
    ];
    expect(await office.apply(ordered(...answers))).toEqual({
      1: {
        "positions.0.answers.1": ["Question 9 is not known; its record must come first."],
        "positions.0.answers.2.options": ["Question 7 has no option 11."],
      },
    });
    expect(await office.apply(ordered({ question: 1, options: [11, 12] }, { question: 7, options: [71] }))).toEqual({});
  });

  it("[R3.95] that does not say what question and options are called is published with their identifiers", async () => {
    const answers = [
      { question: 1, options: [12, 11] },
      { question: 7, question_identifier: "HUE", options: [71], option_identifiers: ["ROUGE"] },
    ];
    await office.apply(ordered(...answers));
    const published = (await takeFacts(office.db)).find(({ topic }) => topic === "position-changed");
    expect(published?.value).toMatchObject({
      position: {
        answers: [
          { question: 1, questionIdentifier: "1", options: [12, 11], optionIdentifiers: ["12", "MEAT"] },
          { question: 7, questionIdentifier: "HUE", options: [71], optionIdentifiers: ["ROUGE"] },
        ],
      },
    });
    await office.apply(ordered(...answers));
    expect(await takeFacts(office.db)).toEqual([]);
  });

  it("[R3.30] stays when the option goes that it chose", async () => {
    await office.apply(ordered({ question: 1, answer: "Meat", options: [11] }));
    expect(await office.apply(sample.question({ type: "C", options: [menu[1]] }))).toEqual({});
    const { answers } = await office.db.one<{ answers: unknown }>(
      sql`select "order".data #> '{positions,0,answers}' as answers from "order"`,
    );
    expect(answers).toMatchObject([{ question: 1, answer: "Meat", options: [11] }]);
  });
});
