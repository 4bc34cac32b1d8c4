import { arrayOf, boolean, choice, decimal, field, id, integer, object, text } from "@tessera/schema/build";
import { idOrNull, instantOrNull, lineOrNull, names, namesOrNull } from "./parts.ts";

const option = object(
  {
    id: field(id(), "Its id, unique in the event.", 11),
    identifier: field(lineOrNull(190), "Its name in rules and answers; null: its id.", "VEGAN"),
    position: field(integer({ default: 0 }), "Its place in lists.", 1),
    answer: field(names(), "What it says, by language.", { en: "Vegan" }),
  },
  { required: ["id"] },
);

const decimalOrNull = () => decimal({ nullable: true, default: null, digits: 16, places: 6 });
const lengthOrNull = () => integer({ nullable: true, default: null, minimum: 0 });
const dayOrNull = () => text({ nullable: true, default: null });

export const questionRecord = object(
  {
    id: field(id(), "Its id.", 1),
    question: field(names(), "What is asked, by language.", { en: "What do you eat?" }),
    type: field(
      choice(["N", "S", "T", "B", "C", "M", "F", "D", "H", "W", "CC", "TEL"], { default: "T" }),
      "What an answer is: number, line, text, yes or no, one option, several options, file, day, time, day and time, country, telephone number.",
      "C",
    ),
    required: field(boolean({ default: false }), "It must be answered."),
    items: field(arrayOf(id(), { default: [], maxItems: 10_000 }), "The items whose buyers are asked.", [1]),
    options: field(arrayOf(option, { default: [], maxItems: 10_000 }), "The options of types C and M."),
    position: field(integer({ default: 0 }), "Its place in lists.", 1),
    ask_during_checkin: field(boolean({ default: false }), "Asked at the gate, if it has no answer yet."),
    show_during_checkin: field(boolean({ default: false }), "Scanners show its answer."),
    identifier: field(lineOrNull(190), "Its name in rules and answers; null: its id.", "FOOD"),
    dependency_question: field(
      idOrNull(),
      "Asked only after certain answers to this question. At check-in that plays no part.",
      2,
    ),
    dependency_values: field(
      arrayOf(text({ trim: false, maxLength: 1000 }), { nullable: true, default: [], maxItems: 1000 }),
      "Those answers: identifiers of options, or `True` and `False`.",
      ["True"],
    ),
    hidden: field(boolean({ default: false }), "Buyers are not asked; only staff sees it."),
    dependency_value: field(lineOrNull(1000), "Of former times: counts where `dependency_values` is empty.", "True"),
    print_on_invoice: field(boolean({ default: false }), "Its answer is printed on invoices."),
    help_text: field(namesOrNull(), "Help for buyers, by language.", { en: "For the buffet" }),
    valid_number_min: field(decimalOrNull(), "The least number.", "1.000000"),
    valid_number_max: field(decimalOrNull(), "The largest number.", "10.000000"),
    valid_date_min: field(dayOrNull(), "The first day, as YYYY-MM-DD.", "2000-01-01"),
    valid_date_max: field(dayOrNull(), "The last day, as YYYY-MM-DD.", "2027-12-31"),
    valid_datetime_min: field(instantOrNull(), "The first moment."),
    valid_datetime_max: field(instantOrNull(), "The last moment."),
    valid_string_length_min: field(lengthOrNull(), "The least number of characters.", 2),
    valid_string_length_max: field(lengthOrNull(), "The largest number of characters.", 100),
    valid_file_portrait: field(boolean({ default: false }), "A file must be the portrait of a person."),
  },
  { required: ["id"] },
);
