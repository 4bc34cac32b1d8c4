import { describe, expect, it } from "vitest";
import { at, event, invoiceAddress, item, position, print, ticket } from "../../testing/ticket.ts";
import type { Attendee, Event, Position, Ticket } from "../ticket.ts";
import { listVariables } from "./find-variable.ts";

const textOf = (name: string, printed: Ticket) => print(name, printed).value;

/** What each variable of a ticket prints; others are asked for by name. */
function textsOf(printed: Ticket, ...others: readonly string[]): Record<string, string> {
  return Object.fromEntries([...listVariables(printed), ...others].map((name) => [name, textOf(name, printed)]));
}

describe("[L11.1] order and ticket", () => {
  it("are printed as they are stored", () => {
    const printed = ticket({
      organizer: "Harbour Ltd",
      order: { code: "XJ7PQ", email: "ann@example.org", phone: "+4930123456" },
      position: position({ positionid: 3, pseudonymizationId: "GG89JUJDTA", secret: "abc" }),
      medium: "04AB",
    });
    expect(textsOf(printed)).toMatchObject({
      secret: "abc",
      order: "XJ7PQ",
      positionid: "3",
      order_positionid: "XJ7PQ-3",
      pseudonymization_id: "GG89JUJDTA",
      email: "ann@example.org",
      telephone: "+49 30 123456",
      organizer: "Harbour Ltd",
      medium_identifier: "04AB",
    });
  });

  it("are empty where they are missing", () => {
    expect(textsOf(ticket())).toMatchObject({ email: "", telephone: "", medium_identifier: "" });
  });
});

it("[L11.2] what no record has is empty", () => {
  expect(textsOf(ticket())).toMatchObject({ program_times: "", giftcard_issuance_date: "", giftcard_expiry_date: "" });
});

describe("products", () => {
  const category = { en: "Passes", de: "Pässe" };
  const pass = item(2, "Pass", { description: { en: "All days" }, category });
  const reduced = { id: 5, name: { en: "Reduced", de: "Ermäßigt" }, description: { en: "Students" }, metaData: {} };

  it("[L12.1] have names and descriptions in the language that fits best", () => {
    const printed = ticket({ order: { locale: "de" }, position: position({ item: pass, variation: reduced }) });
    expect(textsOf(printed)).toMatchObject({
      item: "Pass",
      variation: "Ermäßigt",
      item_description: "All days",
      itemvar: "Pass - Ermäßigt",
      itemvar_description: "Students",
      item_category: "Pässe",
    });
  });

  it("[L12.1] may have no variation, description or category", () => {
    expect(textsOf(ticket({ position: position({ item: pass }) }))).toMatchObject({
      variation: "",
      itemvar: "Pass",
      itemvar_description: "All days",
    });
    expect(textsOf(ticket())).toMatchObject({ item_description: "", itemvar_description: "", item_category: "" });
    const undescribed = { ...reduced, description: null };
    const printed = ticket({ position: position({ item: pass, variation: undescribed }) });
    expect(textOf("itemvar_description", printed)).toBe("");
  });

  const shirt = item(3, "Shirt");
  const lunch = item(4, "Lunch");
  const addon = (rest: Partial<Position>) => position({ price: "5.10", ...rest });

  it("[L12.2] have prices, alone and with what was added", () => {
    const bundles = [{ item: 3, variation: null, count: 1 }];
    const printed = ticket({
      position: position({ price: "0.20", item: item(1, "Ticket", { bundles }) }),
      addons: [addon({ item: shirt }), addon({ item: shirt }), addon({ item: lunch, price: "0.10" })],
    });
    expect(textsOf(printed)).toMatchObject({
      price: "€0.20",
      price_with_addons: "€10.50",
      price_with_bundled: "€5.30",
    });
    expect(textsOf(ticket())).toMatchObject({ price_with_addons: "€23.00", price_with_bundled: "€23.00" });
    const free = ticket({ position: position({ price: "-5.00" }), addons: [addon({ price: "5.00" })] });
    expect(textOf("price_with_addons", free)).toBe("€0.00");
  });

  it("[L12.3] list what was added, alike ones in one line", () => {
    const printed = ticket({
      addons: [
        addon({ id: 2, item: shirt, variation: reduced }),
        addon({ id: 3, item: lunch }),
        addon({ id: 4, item: shirt }),
        addon({ id: 5, item: lunch }),
      ],
      // The ticket itself is no add-on of it, and an exit is a scan.
      scans: new Map([
        [1, 1],
        [3, null],
      ]),
    });
    expect(textsOf(printed)).toMatchObject({ addons: "Shirt - Reduced\n2x Lunch\nShirt", checked_in_addons: "Lunch" });
    expect(textsOf(ticket())).toMatchObject({ addons: "", checked_in_addons: "" });
  });
});

describe("attendees", () => {
  const ann: Attendee = {
    name: "Ann Lee",
    nameParts: { full_name: "Ann Lee" },
    email: "ann@example.org",
    company: "Harbour Ltd",
    street: "Quay 1",
    zipcode: "20457",
    city: "Hamburg",
    state: "HH",
    country: "DE",
  };
  const printedFields = {
    attendee_name: "Ann Lee",
    attendee_company: "Harbour Ltd",
    attendee_street: "Quay 1",
    attendee_zipcode: "20457",
    attendee_city: "Hamburg",
    attendee_state: "HH",
    attendee_country: "Germany",
    attendee_email: "ann@example.org",
    attendee_name_full_name: "Ann Lee",
    attendee_name_for_salutation: "Ann Lee",
  };

  it("[L13.1] are those of the ticket, else of what it was added to", () => {
    expect(textsOf(ticket({ position: position({ attendee: ann }) }))).toMatchObject(printedFields);
    expect(textsOf(ticket({ parent: position({ attendee: ann }) }))).toMatchObject(printedFields);
    const own = { ...ann, name: "Bea", nameParts: { full_name: "Bea" }, country: "FR" };
    const printed = ticket({ position: position({ attendee: own }), parent: position({ attendee: ann }) });
    expect(textsOf(printed)).toMatchObject({
      attendee_name: "Bea",
      attendee_name_full_name: "Bea",
      attendee_country: "France",
      attendee_city: "Hamburg",
    });
    expect(textsOf(ticket())).toMatchObject(Object.fromEntries(Object.keys(printedFields).map((name) => [name, ""])));
  });

  it("[L13.2] have an address in lines, without empty ones and of the ticket alone", () => {
    const address = (changes: Partial<Attendee>) =>
      textOf("attendee_address", ticket({ position: position({ attendee: { ...ann, ...changes } }) }));
    expect(address({})).toBe("Ann Lee\nHarbour Ltd\nQuay 1\n20457 Hamburg HH\nGermany");
    expect(address({ company: "", zipcode: "", state: "", country: "" })).toBe("Ann Lee\nQuay 1\nHamburg");
    expect(textOf("attendee_address", ticket({ parent: position({ attendee: ann }) }))).toBe("");
  });

  const named = (nameScheme: string, nameParts: Record<string, string>, locale = "en") =>
    ticket({ settings: { nameScheme }, order: { locale }, position: position({ attendee: { ...ann, nameParts } }) });
  const parts = { salutation: "Ms", title: "Dr.", given_name: "Ann", family_name: "Lee", degree: "MSc" };

  it("[L13.4] are addressed by the scheme of their name, else by that of the event, else by their full name", () => {
    const greeted = (scheme: string, of: Record<string, string>) =>
      textOf("attendee_name_for_salutation", named(scheme, of));
    const lee = { given_name: "Ann", family_name: "Lee" };
    expect(greeted("full", { _scheme: "given_family", ...lee })).toBe("Ann Lee");
    expect(greeted("full", { _scheme: "salutation_given_family", salutation: "Ms", ...lee })).toBe("Ms Lee");
    expect(greeted("given_family", lee)).toBe("Ann Lee");
    expect(greeted("given_family", { full_name: "Ann Lee" })).toBe("Ann Lee");
    expect(greeted("full", { _scheme: "of a later version", full_name: "Ann Lee" })).toBe("Ann Lee");
  });

  it("[L13.3] have the parts of the event's name scheme, and choices of them in its order", () => {
    const scheme = "salutation_title_given_family_degree";
    expect(textsOf(named(scheme, parts))).toMatchObject({
      attendee_name_salutation: "Ms",
      attendee_name_degree: "MSc",
      attendee_name_given_name: "Ann",
      attendee_name_given_name_family_name: "Ann Lee",
      attendee_name_salutation_family_name: "Ms Lee",
      attendee_name_salutation_title_given_name_family_name_degree: "Ms Dr. Ann Lee MSc",
      attendee_name_for_salutation: "Ms Dr. Lee",
    });
    expect(textsOf(named(scheme, { ...parts, salutation: "Mx", title: "" }))).toMatchObject({
      attendee_name_salutation: "Mx",
      attendee_name_salutation_title_family_name: "Lee",
      attendee_name_for_salutation: "Ann Lee",
    });
    expect(textsOf(named(scheme, parts, "de"))).toMatchObject({ attendee_name_salutation: "Frau" });
  });

  it.each([
    "attendee_name_family_name_given_name",
    "attendee_name_full_name",
    "attendee_name_",
    "invoice_name_title_degree",
  ])("[L13.3] have no %s in a scheme without it", (name) => {
    const printed = named("salutation_title_given_family_degree", { ...parts, full_name: "Ann Lee" });
    expect(textOf(name, printed)).toBe("");
  });

  it.each([
    ["given_family", "Ann Lee"],
    ["title_given_family", "Dr. Ann Lee"],
    ["given_middle_family", "Ann Mae Lee"],
    ["title_given_middle_family", "Dr. Ann Mae Lee"],
    ["family_given", "Lee Ann"],
    ["family_nospace_given", "LeeAnn"],
    ["family_comma_given", "Lee, Ann"],
    ["full", "Ann M. Lee"],
    ["calling_full", "Ann M. Lee"],
    ["full_transcription", "Ann M. Lee"],
    ["salutation_given_family", "Ms Dr. Lee"],
    ["salutation_title_given_family", "Ms Dr. Lee"],
    ["of another version", "Ann M. Lee"],
  ])("[L13.4] are addressed by the scheme %s as %s", (scheme, expected) => {
    const all = { ...parts, middle_name: "Mae", full_name: "Ann M. Lee", calling_name: "Annie" };
    expect(textOf("attendee_name_for_salutation", named(scheme, all))).toBe(expected);
  });

  it("[L13.5] are not those of the invoice, which has fields of its own", () => {
    const address = { ...invoiceAddress, ...ann, customField: "Cost centre 7" };
    const printed = ticket({ order: { invoiceAddress: address } });
    expect(textsOf(printed)).toMatchObject({
      invoice_name: "Ann Lee",
      invoice_company: "Harbour Ltd",
      invoice_street: "Quay 1",
      invoice_zipcode: "20457",
      invoice_city: "Hamburg",
      invoice_state: "HH",
      invoice_country: "Germany",
      invoice_name_full_name: "Ann Lee",
      invoice_name_for_salutation: "Ann Lee",
      invoice_custom_field: "Cost centre 7",
      attendee_name: "",
    });
    expect(textsOf(ticket())).toMatchObject({
      invoice_name: "",
      invoice_country: "",
      invoice_name_full_name: "",
      invoice_custom_field: "",
    });
    const split = ticket({
      settings: { nameScheme: "given_family" },
      order: { invoiceAddress: { ...address, nameParts: parts } },
    });
    expect(textOf("invoice_name_given_name", split)).toBe("Ann");
    expect(textOf("invoice_name_given_name_family_name", split)).toBe("");
  });
});

describe("the event", () => {
  const full: Event = {
    ...event,
    dateFrom: at("2025-12-27T19:05:00Z"),
    dateTo: at("2025-12-30T22:00:00Z"),
    dateAdmission: at("2025-12-27T18:00:00Z"),
  };
  const friday = { ...event, name: { en: "Friday" }, location: { en: "Hall 2" }, dateFrom: at("2026-01-02T09:00:00Z") };

  it("[L14.1] is the date of a series where the ticket is for one", () => {
    expect(textsOf(ticket())).toMatchObject({
      event_name: "Festival",
      event_series_name: "Festival",
      event_location: "Old Harbour\nHamburg",
    });
    expect(textsOf(ticket({ subevent: friday }))).toMatchObject({
      event_name: "Friday",
      event_series_name: "Festival",
      event_location: "Hall 2",
      event_begin: "2026-01-02 10:00",
      event_end: "",
    });
    expect(textOf("event_location", ticket({ event: { ...event, location: null } }))).toBe("");
  });

  it("[L14.2] has its days and times where it is", () => {
    expect(textsOf(ticket({ event: full }))).toMatchObject({
      event_date: "Dec. 27, 2025",
      event_date_range: "Dec. 27 – 30, 2025",
      event_begin: "2025-12-27 20:05",
      event_begin_date: "2025-12-27",
      event_begin_time: "20:05",
      event_begin_weekday: "Saturday",
      event_end: "2025-12-30 23:00",
      event_end_date: "2025-12-30",
      event_end_time: "23:00",
      event_end_weekday: "Tuesday",
      event_admission: "2025-12-27 19:00",
      event_admission_time: "19:00",
    });
    expect(textsOf(ticket({ event: { ...full, timezone: "Pacific/Auckland" } }))).toMatchObject({
      event_begin: "2025-12-28 08:05",
      event_begin_weekday: "Sunday",
    });
  });

  it("[L14.3] shows no weekday of an end that is hidden, and no end where there is none", () => {
    expect(textsOf(ticket({ event: full, settings: { showsDateTo: false } }))).toMatchObject({
      event_end: "2025-12-30 23:00",
      event_end_weekday: "",
      event_date_range: "Dec. 27 – 30, 2025",
    });
    expect(textsOf(ticket())).toMatchObject({
      event_end: "",
      event_end_date: "",
      event_end_time: "",
      event_end_weekday: "",
      event_admission: "",
      event_admission_time: "",
      event_date_range: "Sat, Dec. 27, 2025",
    });
  });

  it("[L14.4] has texts of its settings, and meta data with those of the date first", () => {
    const printed = ticket({
      event: { ...event, metaData: { city: "Hamburg", stage: "Main" } },
      subevent: { ...friday, metaData: { stage: "Side", city: "" } },
      settings: { organizerInfoText: { en: "Call us" }, eventInfoText: { de: "Ohne Hunde" } },
    });
    expect(textsOf(printed, "meta:unknown", "meta:constructor", "meta:")).toMatchObject({
      organizer_info_text: "Call us",
      event_info_text: "Ohne Hunde",
      "meta:city": "Hamburg",
      "meta:stage": "Side",
      "meta:unknown": "",
      "meta:constructor": "",
      "meta:": "",
    });
    expect(textsOf(ticket())).toMatchObject({ organizer_info_text: "", event_info_text: "" });
  });

  it("[L14.5] has meta data of products: of the variation, else of the item, else of all", () => {
    const variation = { id: 1, name: { en: "Red" }, description: null, metaData: { colour: "red" } };
    const printed = ticket({
      event: { ...event, itemMetaProperties: { colour: "none", size: "L", day: "any" } },
      position: position({ item: item(1, "Shirt", { metaData: { colour: "white", size: "M" } }), variation }),
    });
    expect(textsOf(printed, "itemmeta:x")).toMatchObject({
      "itemmeta:colour": "red",
      "itemmeta:size": "M",
      "itemmeta:day": "any",
      "itemmeta:x": "",
    });
  });

  it("[L14.6] sets the clock for order, validity, printing and the first entry", () => {
    const printed = ticket({
      position: position({
        validFrom: at("2025-12-27T11:00:00Z"),
        validUntil: at("2025-12-31T23:30:00Z"),
      }),
      scans: new Map([
        [2, at("2025-12-26T18:00:00Z")],
        [1, at("2025-12-27T18:00:00Z")],
      ]),
    });
    expect(textsOf(printed)).toMatchObject({
      purchase_date: "2025-07-01",
      purchase_datetime: "2025-07-01 00:15",
      purchase_time: "00:15",
      now_date: "2025-07-01",
      now_datetime: "2025-07-01 12:00",
      now_time: "12:00",
      valid_from_date: "2025-12-27",
      valid_from_datetime: "2025-12-27 12:00",
      valid_from_time: "12:00",
      valid_until_date: "2026-01-01",
      valid_until_datetime: "2026-01-01 00:30",
      valid_until_time: "00:30",
      first_scan: "2025-12-27 19:00",
    });
    expect(textsOf(ticket())).toMatchObject({
      valid_from_date: "",
      valid_from_datetime: "",
      valid_until_time: "",
      first_scan: "",
    });
  });
});

describe("seats", () => {
  const seat = { name: "S-1-2", zone: "Stalls", row: "1", rowLabel: "", number: "2", numberLabel: "" };
  const seated = (changes: Partial<typeof seat>, locale = "en") =>
    ticket({ order: { locale }, position: position({ seat: { ...seat, ...changes } }) });

  it("[L15.1] are named by zone, row and number, labels first, else by their own name", () => {
    expect(textsOf(seated({}))).toMatchObject({
      seat: "Stalls, Row 1, Seat 2",
      seat_zone: "Stalls",
      seat_row: "1",
      seat_number: "2",
    });
    expect(textsOf(seated({ rowLabel: "Box A", numberLabel: "Chair B" }))).toMatchObject({
      seat: "Stalls, Box A, Chair B",
    });
    expect(textsOf(seated({ zone: "", row: "" }))).toMatchObject({ seat: "Seat 2", seat_zone: "" });
    expect(textsOf(seated({ zone: "", row: "", number: "" }))).toMatchObject({ seat: "S-1-2" });
    expect(textsOf(seated({}, "de"))).toMatchObject({ seat: "Stalls, Reihe 1, Platz 2" });
    expect(textsOf(seated({}, "ja"))).toMatchObject({ seat: "Stalls, 1列, 2番" });
    expect(textsOf(seated({ row: "$&" }))).toMatchObject({ seat: "Stalls, Row $&, Seat 2" });
  });

  it("[L15.2] of an add-on are those of what it was added to", () => {
    expect(textsOf(ticket({ parent: position({ seat }) }))).toMatchObject({
      seat: "Stalls, Row 1, Seat 2",
      seat_number: "2",
    });
  });

  it("[L15.3] are anywhere for a ticket without one where there is a plan, else nothing", () => {
    const planned = { ...event, hasSeatingPlan: true };
    expect(textsOf(ticket({ event: planned }))).toMatchObject({
      seat: "General admission",
      seat_zone: "General admission",
      seat_row: "",
      seat_number: "",
    });
    expect(textsOf(ticket({ event: planned, order: { locale: "de" } }))).toMatchObject({ seat: "Freie Platzwahl" });
    expect(textsOf(ticket({ event: planned, subevent: event }))).toMatchObject({ seat: "" });
    expect(textsOf(ticket())).toMatchObject({ seat: "", seat_zone: "", seat_row: "", seat_number: "" });
  });
});

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
