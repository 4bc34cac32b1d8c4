import { describe, expect, it } from "vitest";
import { at, event, item, position, ticket } from "../../testing/print-ticket.ts";
import { textOf, textsOf } from "../../testing/printed-texts.ts";
import type { Event } from "../ticket.ts";

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

  it("[L14.1] is where the event is if the date has no place", () => {
    for (const location of [null, {}, { en: "" }])
      expect(textOf("event_location", ticket({ subevent: { ...friday, location } }))).toBe("Old Harbour\nHamburg");
    const nowhere = { event: { ...event, location: null }, subevent: { ...friday, location: null } };
    expect(textOf("event_location", ticket(nowhere))).toBe("");
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
