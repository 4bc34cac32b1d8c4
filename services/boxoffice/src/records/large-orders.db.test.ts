import { longestTurn } from "@tessera/testkit/longest-turn";
import { describe, expect, it } from "vitest";
import { emptyOffice } from "../testing/empty-office.ts";
import { festival, position, record, sample } from "../testing/records.ts";

const office = emptyOffice();

const scan = (id: number) => ({ id, list: 1, datetime: "2026-07-01T10:00:00Z", type: "entry" });
const answer = { question: 1, answer: "true", question_identifier: "VEGETARIAN" };

/** A position as shops send it. */
const sold = (id: number) => ({
  ...position({ id, positionid: id, secret: `ticket-${id}`, variation: null, price: "23.00", tax_rule: 1 }),
  ...{ attendee_name: "Jo Example", attendee_name_parts: { _scheme: "full", full_name: "Jo Example" }, company: null },
  ...{ attendee_email: null, street: null, zipcode: null, city: null, country: null, state: null, voucher: null },
  ...{ tax_rate: "19.00", tax_value: "3.67", tax_code: null, addon_to: null, subevent: null, discount: null },
  ...{ blocked: null, valid_from: null, valid_until: null, pseudonymization_id: `P${id}`, downloads: [], pdf_data: {} },
  ...{ canceled: false, seat: null, voucher_budget_use: null, checkins: [scan(1)], answers: [answer] },
});

const times = <T>(length: number, make: (index: number) => T) => Array.from({ length }, (_, index) => make(index));

describe("the largest order", () => {
  it.each([
    ["with all that a shop says of its positions", times(5000, (at) => sold(at + 1)), 0],
    ["with something wrong in each position", times(5000, (at) => ({ ...sold(at + 1), tax_rate: "none" })), 101],
    ["with very many scans", times(4, (id) => ({ ...sold(id + 1), checkins: times(10_000, (at) => scan(at + 1)) })), 0],
    ["with very many answers", times(40, (at) => ({ ...sold(at + 1), answers: times(1000, () => answer) })), 0],
  ])("[S4.26] keeps others waiting for less than 50 ms: %s", async (_name, positions, warnings) => {
    await office.apply(...festival, sample.question(), sample.taxRule());
    const sent = record("order", JSON.stringify({ code: "ABCDE", status: "p", positions }));
    const apply = async () => {
      const { rejected, warned } = await office.applyApart(sent);
      expect([rejected, Object.values(warned[1] ?? {}).flat().length]).toEqual([{}, warnings]);
    };
    expect(await longestTurn(apply, { enoughMs: 50 })).toBeLessThan(50);
  });
});
