import { setImmediate } from "node:timers/promises";
import { longestTurn } from "@tessera/testkit/longest-turn";
import { describe, expect, it } from "vitest";
import { readLine } from "./read-line.ts";

/** A position as shops send it. */
const position = (id: number) => ({
  ...{
    id,
    positionid: id,
    canceled: false,
    item: 1,
    variation: null,
    price: "23.00",
    secret: `ticket-${id}`,
    seat: null,
  },
  ...{ attendee_name: "Jo Example", attendee_name_parts: { _scheme: "full", full_name: "Jo Example" }, company: null },
  ...{ attendee_email: null, street: null, zipcode: null, city: null, country: null, state: null, voucher: null },
  ...{
    tax_rate: "19.00",
    tax_value: "3.67",
    tax_code: null,
    tax_rule: 1,
    addon_to: null,
    subevent: null,
    discount: null,
  },
  ...{ blocked: null, valid_from: null, valid_until: null, pseudonymization_id: `P${id}`, downloads: [], pdf_data: {} },
  ...{ voucher_budget_use: null, print_logs: [], checkins: [{ id: 1, list: 1, datetime: "2027-01-01T10:00:00Z" }] },
  answers: [
    { question: 1, answer: "Vegan", question_identifier: "FOOD", options: [11], option_identifiers: ["VEGAN"] },
  ],
});

const lineOf = (data: object) =>
  Buffer.from(JSON.stringify({ kind: "order", organizer: "bigevents", event: "sampleconf", data }));

describe("a long line", () => {
  const largest = { code: "ABC12", positions: Array.from({ length: 5000 }, (_, index) => position(index + 1)) };

  it("[R2.9, R2.13] holds the largest order, with all that a shop says of its positions", async () => {
    const read = await readLine(7, lineOf(largest));
    if (!("record" in read)) throw new Error(JSON.stringify(read.errors));
    expect(read).toMatchObject({ owner: "boxoffice", record: { line: 7, kind: "order", event: "sampleconf" } });
    expect(JSON.parse(new TextDecoder().decode(read.record.data))).toEqual(largest);
  });

  it.each([
    ["the largest order", lineOf(largest)],
    [
      "many names",
      lineOf(Object.fromEntries(Array.from({ length: 9000 }, (_, index) => [`k${index}`, "x".repeat(20)]))),
    ],
    ["too many names", lineOf(Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`k${index}`, 1])))],
    ["too many values", lineOf({ all: Array(1_500_000).fill(1) })],
  ])("[S4.26] delays no other request: %s", async (_name, line) => {
    const read = async () => {
      await readLine(1, line);
      // The turn in which it ends counts, too.
      await setImmediate();
    };
    expect(await longestTurn(read, { enoughMs: 50 })).toBeLessThan(50);
  });

  it("[R2.9] says what is wrong with it", async () => {
    const errors = { non_field_errors: ["The line is not valid JSON."] };
    expect(await readLine(1, Buffer.alloc(1_000_000, "{"))).toMatchObject({
      errors: { non_field_errors: ["The line nests deeper than 64 levels."] },
    });
    expect(await readLine(1, Buffer.alloc(1_000_000, "x"))).toMatchObject({ errors, notAnObject: true });
  });
});
