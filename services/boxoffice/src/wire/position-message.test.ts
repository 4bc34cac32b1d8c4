import { Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { describe, expect, it } from "vitest";
import { order as orderKind } from "../records/order.ts";
import { position, sample } from "../testing/records.ts";
import { toSeat } from "./position-message.ts";

/** Reads an order and returns the message of its only position. */
async function messageOf(order: Record<string, unknown>, of: Record<string, unknown> = {}): Promise<Position> {
  const read = await orderKind.read(sample.order({ ...order, positions: [position(of)] }).data);
  if (!read.ok) throw new Error(JSON.stringify(read.errors));
  return Position.decode(read.value.positions[0]?.state ?? new Uint8Array());
}

describe("the message of a position", () => {
  it("[C2.20] has a name that was sent without parts as the part `full_name`", async () => {
    const address = { name: "Bo Li", company: "" };
    const message = await messageOf(
      { invoice_address: address },
      { attendee_name: "Ada Quill", attendee_name_parts: {} },
    );
    expect(message.attendeeNameParts).toEqual({ full_name: "Ada Quill" });
    expect(message.order?.invoiceName?.nameParts).toEqual({ full_name: "Bo Li" });
    const parts = { given_name: "Ada", family_name: null };
    const divided = await messageOf({}, { attendee_name: "Ada Quill", attendee_name_parts: parts });
    expect(divided.attendeeNameParts).toEqual({ given_name: "Ada" });
    expect((await messageOf({}, { attendee_name: null, attendee_name_parts: null })).attendeeNameParts).toEqual({});
  });

  it("[R3.36, R4.5] has everything that was sent", async () => {
    const address = { name: "", name_parts: { given_name: "Bo", family_name: "Li" }, company: "Tea & Co" };
    const message = await messageOf(
      {
        status: "n",
        email: "a@example.org",
        locale: "de-informal",
        datetime: "2026-01-01T11:00:00.123456+01:00",
        valid_if_pending: true,
        require_approval: true,
        checkin_attention: true,
        checkin_text: "Look",
        invoice_address: address,
      },
      {
        id: 1_000_000_000_000,
        positionid: 3,
        item: 4,
        variation: 5,
        subevent: 6,
        price: "23.5",
        attendee_name_parts: { _scheme: "given_family", given_name: "Ada", family_name: "Lovelace", title: null },
        attendee_email: "b@example.org",
        company: "C",
        street: "S",
        zipcode: "Z",
        city: "T",
        country: "DE",
        state: "B",
        voucher: 8,
        tax_rate: 19,
        tax_value: "3.67",
        tax_rule: 9,
        secret: " kept to the letter ",
        pseudonymization_id: " P ",
        seat: {
          id: 10,
          name: "A-1",
          seat_guid: "guid",
          zone_name: "A",
          row_name: "1",
          seat_number: "2",
          row_label: "Row",
        },
        canceled: true,
        blocked: ["admin", "api:x"],
        valid_from: "2026-01-01",
        valid_until: "1969-12-31T23:59:59.999999Z",
        answers: [
          { question: 11, answer: " yes ", question_identifier: "Q", options: [12], option_identifiers: ["O"] },
        ],
      },
    );
    expect(message).toEqual({
      id: 1_000_000_000_000,
      positionid: 3,
      item: 4,
      variation: 5,
      subevent: 6,
      price: "23.50",
      attendeeName: "Ada Lovelace",
      attendeeNameParts: { _scheme: "given_family", given_name: "Ada", family_name: "Lovelace" },
      attendeeEmail: "b@example.org",
      company: "C",
      street: "S",
      zipcode: "Z",
      city: "T",
      country: "DE",
      state: "B",
      voucher: 8,
      taxRate: "19.00",
      taxValue: "3.67",
      taxRule: 9,
      secret: " kept to the letter ",
      pseudonymizationId: " P ",
      // The seat of the guid is looked up later.
      seat: undefined,
      canceled: true,
      blocked: ["admin", "api:x"],
      validFrom: 1_767_225_600_000_000,
      validUntil: -1,
      answers: [{ question: 11, answer: " yes ", questionIdentifier: "Q", options: [12], optionIdentifiers: ["O"] }],
      order: {
        code: "ABCDE",
        status: "ORDER_STATUS_PENDING",
        validIfPending: true,
        requireApproval: true,
        locale: "de-informal",
        placedAt: 1_767_261_600_123_456,
        email: "a@example.org",
        checkinAttention: true,
        checkinText: "Look",
        invoiceName: { name: "Bo Li", nameParts: { given_name: "Bo", family_name: "Li" }, company: "Tea & Co" },
      },
    });
  });

  it("says nothing where nothing is known", async () => {
    expect(
      await messageOf({}, { attendee_name: "", attendee_name_parts: null, answers: null, blocked: null, seat: null }),
    ).toMatchObject({
      attendeeName: undefined,
      attendeeNameParts: {},
      seat: undefined,
      blocked: [],
      answers: [],
      price: "0.00",
      order: { status: "ORDER_STATUS_PAID", locale: "en", invoiceName: undefined },
    });
  });

  it("prefers the name that was sent to one out of its parts", async () => {
    expect(
      (await messageOf({}, { attendee_name: "Ada", attendee_name_parts: { full_name: "Ada Lovelace" } })).attendeeName,
    ).toBe("Ada");
  });

  it.each([
    ["its own name", { name: "Throne" }, "Throne"],
    ["that of its place", {}, "A, Row 1, Seat 2"],
    ["its guid where nothing else is known", { zone_name: "", row_name: "", seat_number: "" }, "guid"],
  ])("names a seat by %s", (_name, changes, name) => {
    const place = { zone_name: "A", row_name: "1", row_label: null, seat_number: "2", seat_label: null };
    expect(toSeat({ id: 10, name: null, seat_guid: "guid", ...place, ...changes })).toMatchObject({
      id: 10,
      name,
      seatGuid: "guid",
    });
  });

  it("has the same bytes whatever order the parts of a name come in", async () => {
    const one = await messageOf({}, { attendee_name_parts: { a: "1", b: "2", c: "3" } });
    const other = await messageOf({}, { attendee_name_parts: { c: "3", a: "1", b: "2" } });
    expect(Buffer.from(Position.encode(one).finish())).toEqual(Buffer.from(Position.encode(other).finish()));
  });

  it.each([
    ["n", "ORDER_STATUS_PENDING"],
    ["p", "ORDER_STATUS_PAID"],
    ["e", "ORDER_STATUS_EXPIRED"],
    ["c", "ORDER_STATUS_CANCELED"],
  ])("writes the status %s", async (status, expected) => {
    expect((await messageOf({ status })).order?.status).toBe(expected);
  });
});
