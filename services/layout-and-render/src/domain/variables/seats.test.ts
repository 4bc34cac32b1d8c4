import { describe, expect, it } from "vitest";
import { event, position, ticket } from "../../testing/print-ticket.ts";
import { textsOf } from "../../testing/printed-texts.ts";

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
