import { parseInstant } from "@tessera/values";
import { evaluateAll } from "../domain/elements/resolve-elements.ts";
import { Formats } from "../domain/formats/formats.ts";
import { makeSampleTicket } from "../domain/sample-ticket.ts";
import type { Event, Item, Question } from "../domain/ticket.ts";
import { nameSchemes } from "../domain/variables/name-schemes.ts";

/** What each variable means, in the order of the page. */
export const meanings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "Order and ticket": {
    secret: "What a scanner reads: the content of the code. A text shows at most 32 characters of it.",
    order: "The code of the order.",
    positionid: "The number of the ticket in its order, from 1.",
    order_positionid: "Both, joined by a dash.",
    pseudonymization_id: "A code of the ticket that opens no gate.",
    email: "The mail address of the order.",
    telephone: "The phone number of the order, in the international form.",
    medium_identifier: "What is written on the wristband or card that is linked to the ticket.",
    purchase_date: "The day of the order.",
    purchase_datetime: "Day and time of the order.",
    purchase_time: "The time of the order.",
    valid_from_date: "The day from which the ticket is valid.",
    valid_from_datetime: "Day and time from which the ticket is valid.",
    valid_from_time: "The time from which the ticket is valid.",
    valid_until_date: "The day until which the ticket is valid.",
    valid_until_datetime: "Day and time until which the ticket is valid.",
    valid_until_time: "The time until which the ticket is valid.",
    now_date: "The day of printing.",
    now_datetime: "Day and time of printing.",
    now_time: "The time of printing.",
  },
  Event: {
    event_name: "The name of the date, in a series; else of the event.",
    event_series_name: "The name of the event.",
    event_location: "Where the date is, in a series, else where the event is. It may have several lines.",
    event_date: "The day of the beginning.",
    event_date_range: "The days from the beginning to the end.",
    event_begin: "Day and time of the beginning.",
    event_begin_date: "The day of the beginning, in short.",
    event_begin_time: "The time of the beginning.",
    event_begin_weekday: "The day of the week of the beginning.",
    event_end: "Day and time of the end.",
    event_end_date: "The day of the end, in short.",
    event_end_time: "The time of the end.",
    event_end_weekday: "The day of the week of the end; empty where the event hides its end.",
    event_admission: "Day and time when the doors open.",
    event_admission_time: "The time when the doors open.",
    organizer: "The name of the organizer.",
    organizer_info_text: "The text `organizer_info_text` of the settings.",
    event_info_text: "The text `event_info_text` of the settings.",
  },
  Product: {
    item: "The name of the product.",
    variation: "The name of the variation.",
    itemvar: "Product and variation, joined by a dash.",
    item_description: "The description of the product.",
    itemvar_description: "The description of the variation, where there is one, else of the product.",
    item_category: "The name of the product's category.",
    price: "The price of the ticket, with its currency.",
    price_with_addons: "The price with all add-ons.",
    price_with_bundled: "The price with the add-ons that are part of the product's bundles.",
    addons: "The add-ons, one line for each product, with the number if there are several.",
  },
  Attendee: {
    attendee_name: "The whole name.",
    attendee_name_for_salutation: "The name as one addresses a person, by the name scheme.",
    attendee_company: "The company.",
    attendee_street: "The street, with the number of the house.",
    attendee_zipcode: "The postal code.",
    attendee_city: "The city.",
    attendee_state: "The state or province.",
    attendee_country: "The country by its name.",
    attendee_address: "Name, company, street, place and country of the ticket alone, each in a line of its own.",
    attendee_email: "The mail address of the attendee.",
  },
  "Invoice address": {
    invoice_name: "The whole name.",
    invoice_name_for_salutation: "The name as one addresses a person, by the name scheme.",
    invoice_company: "The company.",
    invoice_street: "The street, with the number of the house.",
    invoice_zipcode: "The postal code.",
    invoice_city: "The city.",
    invoice_state: "The state or province.",
    invoice_country: "The country by its name.",
    invoice_custom_field: "What was answered to a field of the shop's own.",
  },
  Seat: {
    seat: "Zone, row and number, else the name of the seat.",
    seat_zone: "The zone.",
    seat_row: "The row.",
    seat_number: "The number in the row.",
  },
  "Check-in": {
    first_scan: "Day and time of the first entry.",
    checked_in_addons: "The add-ons that were scanned, as in `addons`.",
  },
  "Always empty": {
    program_times: "Layouts of other programs may have it; no record brings it.",
    giftcard_issuance_date: "Likewise.",
    giftcard_expiry_date: "Likewise.",
  },
};

/** Variables whose names an event makes, with one that the sample has. */
export const patterns: readonly { readonly name: string; readonly example: string; readonly meaning: string }[] = [
  {
    name: "attendee_name_<part>",
    example: "attendee_name_given_name",
    meaning:
      "A part of the attendee's name, or several joined by `_` in the order of the scheme: `attendee_name_given_name_family_name`.",
  },
  {
    name: "invoice_name_<part>",
    example: "invoice_name_family_name",
    meaning: "A single part of the name on the invoice address.",
  },
  {
    name: "question_<identifier>",
    example: "question_SHIRT",
    meaning:
      "The answer to a question, as people write it. The picture that answers a question of type `F` is for an `imagearea` alone.",
  },
  {
    name: "meta:<key>",
    example: "meta:Dress",
    meaning: "From `meta_data` of the date, where it has the key, else of the event.",
  },
  {
    name: "itemmeta:<key>",
    example: "itemmeta:Door",
    meaning: "From `meta_data` of the variation, else of the product, else `item_meta_properties` of the event.",
  },
];

const instant = (text: string) => parseInstant(text) as number;

const event: Event = {
  name: { en: "Summer Night" },
  location: { en: "Old Mill\nMill Lane 1" },
  dateFrom: instant("2027-07-01T18:00:00Z"),
  dateTo: instant("2027-07-03T21:30:00Z"),
  dateAdmission: instant("2027-07-01T16:30:00Z"),
  metaData: { Dress: "casual" },
  hasSeatingPlan: true,
  currency: "EUR",
  timezone: "Europe/Berlin",
  itemMetaProperties: { Door: "north" },
};

const item: Item = {
  id: 1,
  name: { en: "Ticket" },
  description: { en: "Three days of music" },
  metaData: {},
  category: { en: "Tickets" },
  bundles: [],
};

const shirt: Question = {
  id: 1,
  identifier: "SHIRT",
  type: "C",
  options: [{ id: 1, identifier: "M", answer: { en: "Medium" } }],
};

/** The variables of a ticket that was never sold, with their values in English. */
export function evaluateSample(): ReadonlyMap<string, string> {
  const settings = {
    region: null,
    nameScheme: "salutation_title_given_family",
    showsDateTo: true,
    organizerInfoText: { en: "Old Mill Ltd, 1 Mill Lane" },
    eventInfoText: { en: "Bring a jacket" },
  };
  const data = { organizer: "Old Mill", event, subevent: null, item, settings, questions: [shirt] };
  const now = instant("2027-01-10T12:00:00Z");
  const sample = makeSampleTicket({ ...data, locale: "en", secretLength: 32 }, now);
  const variation = { id: 2, name: { en: "Adult" }, description: { en: "From 18 years" }, metaData: {} };
  const ticket = { ...sample, position: { ...sample.position, variation } };
  return evaluateAll(ticket, { now, formats: new Formats() }).texts;
}

/** Writes the page: one table for each group of variables, with their values on the sample. */
export function printLayoutVariables(): string {
  const values = evaluateSample();
  const groups = Object.entries(meanings).map(([title, group]) => {
    const rows = Object.entries(group).map(([name, meaning]) =>
      row([`\`${name}\``, meaning, sample(values.get(name))]),
    );
    return `## ${title}\n\n${head}\n${rows.join("\n")}\n`;
  });
  const named = patterns.map(({ name, example, meaning }) =>
    row([`\`${name}\``, meaning, `\`${example}\`: ${sample(values.get(example))}`]),
  );
  const schemes = [...nameSchemes].map(([name, parts]) =>
    row([`\`${name}\``, parts.map((part) => `\`${part}\``).join(", ")]),
  );
  return [
    introduction,
    ...groups,
    `## Names that the event makes\n\n${head}\n${named.join("\n")}\n`,
    `${aboutSchemes}\n\n| \`name_scheme\` | Parts |\n|---|---|\n${schemes.join("\n")}\n`,
  ].join("\n");
}

const head = "| Variable | Meaning | Sample |\n|---|---|---|";

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function sample(value = ""): string {
  return value === ""
    ? ""
    : value
        .split("\n")
        .map((line) => `\`${line}\``)
        .join("<br>");
}

const introduction = `# Variables of ticket layouts

What \`content\` of an element may name. [Ticket layouts](rules/ticket-layouts.md) has the rules of elements, and
[rendering](rules/rendering.md) those of what is printed. This page is written from the variables that layouts are printed with
(\`npm run layout-variables\`). The samples are in English; dates, prices, countries and texts follow the language of the order, or the \`locale\` of the element.

| Element | \`content\` |
|---|---|
| \`textarea\`, \`textcontainer\` | a variable, \`other\` or \`other_i18n\` |
| \`barcodearea\` | the same; left out, it is \`secret\` |
| \`imagearea\` | \`question_<identifier>\` of a question of type \`F\`, whose answer is a picture |
| \`poweredby\` | \`dark\` or \`white\`: no variable |

\`other\` prints the element's own \`text\`; \`other_i18n\` prints its \`text_i18n\` in the language that fits best. In both, \`{name}\` is replaced by the value of a
variable, and stays as it is where there is no such variable:

    {"content": "other", "text": "{event_name}, row {seat_row}", …}
    {"content": "other_i18n", "text_i18n": {"en": "Doors open at {event_admission_time}", "de": "Einlass ab {event_admission_time}"}, …}

A variable without a value prints nothing, and so does a name that is no variable: \`POST …/ticketlayouts/lint/\` finds those. An add-on has the
seat, the attendee and the answers of the ticket it was added to where it has none of its own. To see the values of a real ticket, ask for
\`…/checkinlists/{id}/positions/?pdf_data=true\`: each position has all of them in \`pdf_data\`.
`;

const aboutSchemes = `The parts of a name are those of the event's \`name_scheme\`, which its [settings](record-fields.md#event_settings) say:`;
