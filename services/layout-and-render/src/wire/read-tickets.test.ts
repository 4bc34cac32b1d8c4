import type { Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { type Document, ReadTicketDataResponse } from "@tessera/protos/gen/ticketing/boxoffice/v1/ticket_data";
import { describe, expect, it } from "vitest";
import { at } from "../testing/print-ticket.ts";
import { json, paidOrder, ticketFact } from "../testing/ticket-fact.ts";
import { readTickets } from "./read-tickets.ts";

const documents = (values: Readonly<Record<string, unknown>>): Document[] =>
  Object.entries(values).map(([key, value]) => ({ key, json: json(value) }));

const order = {
  ...{ ...paidOrder, locale: "de" },
  invoiceName: { name: "Ann Lee", nameParts: { given_name: "Ann" }, company: "" },
};

const fact = (id: number, rest: Partial<Position> = {}) => ticketFact({ id, order, ...rest });

function response(rest: Partial<ReadTicketDataResponse> = {}): ReadTicketDataResponse {
  const reference = (position: number) => ({ position, order: "ABCDE", item: 1, salesChannel: "web" });
  return {
    ...ReadTicketDataResponse.decode(new Uint8Array()),
    tickets: [reference(2), reference(1)],
    answered: 2,
    positions: [fact(1), fact(2, { addonTo: 1 }), fact(3, { addonTo: 1, canceled: true })],
    organizer: json({ slug: "org", name: "Organizer" }),
    event: json({
      name: { en: "Festival" },
      date_from: "2025-12-27T19:05:00Z",
      date_to: null,
      location: null,
      currency: "EUR",
      timezone: "Europe/Berlin",
      seating_plan: 5,
      meta_data: { city: "Berlin" },
      item_meta_properties: { day: null, size: "L" },
    }),
    settings: json({ region: "AT", name_scheme: "given_family", show_date_to: false, event_info_text: "No dogs" }),
    items: documents({
      1: { id: 1, name: { en: "Ticket" }, category: 7, variations: [{ id: 4, value: { en: "Red" } }] },
    }),
    categories: documents({ 7: { name: { en: "Passes" } } }),
    orders: documents({ ABCDE: { phone: "+4930123456", invoice_address: { city: "Hamburg", custom_field: "7" } } }),
    questions: documents({
      9: { id: 9, identifier: "Q", type: "C", options: [{ identifier: "A", answer: { en: "Yes" } }] },
    }),
    media: [{ position: 1, identifier: "04AB" }],
    ...rest,
  };
}

describe("tickets of an answer", () => {
  it("have what they belong to, in the order of the references", () => {
    const [second, first] = readTickets(response());
    expect(first).toMatchObject({
      organizer: "Organizer",
      event: { hasSeatingPlan: true, dateTo: null, metaData: { city: "Berlin" }, itemMetaProperties: { size: "L" } },
      subevent: null,
      settings: { region: "AT", showsDateTo: false, eventInfoText: { en: "No dogs" }, organizerInfoText: null },
      order: {
        phone: "+4930123456",
        email: "ann@example.org",
        invoiceAddress: {
          name: "Ann Lee",
          nameParts: { given_name: "Ann" },
          city: "Hamburg",
          street: "",
          customField: "7",
        },
      },
      position: { id: 1, item: { name: { en: "Ticket" }, category: { en: "Passes" } }, variation: null, seat: null },
      parent: null,
      addons: [{ id: 2 }],
      questions: [{ id: 9, identifier: "Q", type: "C", options: [{ identifier: "A", answer: { en: "Yes" } }] }],
      medium: "04AB",
    });
    expect(second).toMatchObject({ position: { id: 2 }, parent: { id: 1 }, addons: [], medium: null });
  });

  it("have variation, date, seat and answers where they have any", () => {
    const seat = { id: 1, name: "S", seatGuid: "G", zoneName: "Z", rowName: "1", seatNumber: "2", seatLabel: "Two" };
    const answer = { question: 9, questionIdentifier: "Q", options: [1], optionIdentifiers: ["A"] };
    const sold = {
      variation: 4,
      subevent: 6,
      seat,
      answers: [
        { ...answer, answer: "Yes" },
        { ...answer, question: 10, answer: "file:image/png;7;00", file: true },
      ],
      validUntil: 7,
    };
    const [, first] = readTickets(
      response({
        positions: [fact(1, sold), fact(2)],
        subevents: documents({ 6: { name: { en: "Friday" }, date_from: "2025-12-28T19:05:00Z" } }),
      }),
    );
    expect(first?.subevent).toMatchObject({ name: { en: "Friday" }, dateFrom: at("2025-12-28T19:05:00Z") });
    expect(first?.position).toMatchObject({
      variation: { id: 4, name: { en: "Red" } },
      seat: { name: "S", zone: "Z", row: "1", rowLabel: "", number: "2", numberLabel: "Two" },
      answers: [
        { question: 9, text: "Yes", chosen: [1], fileType: null },
        { question: 10, fileType: "image/png" },
      ],
      validFrom: null,
      validUntil: 7,
    });
  });

  it("are read where documents lack what a later version moved", () => {
    const [ticket] = readTickets(response({ items: [], orders: [], event: json([]), settings: json({}) }));
    expect(ticket).toMatchObject({
      event: { name: {} },
      order: { invoiceAddress: null },
      position: { item: { id: 1 } },
    });
  });
});
