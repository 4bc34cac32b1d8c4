import { recordOf } from "./on-empty-platform.ts";

/** A second product, and a list with products and a rule. */
export function gateRecords(): string[] {
  const rules = {
    and: [
      { isAfter: [{ var: "now" }, { buildTime: ["custom", "2026-01-01T00:00:00Z"] }, null] },
      { "<": [{ var: "entries_number" }, 3] },
    ],
  };
  return [
    recordOf("item", { id: 2, name: { en: "Day ticket" }, default_price: "49.00", admission: true, active: true }),
    recordOf("checkin_list", { id: 1, name: "Gate", all_products: false, limit_products: [1, 2], rules }),
    recordOf("checkin_list", { id: 2, name: "Backstage", all_products: true, limit_products: [] }),
    recordOf("order", {
      code: "SEED1",
      status: "p",
      datetime: "2027-01-01T12:00:00Z",
      email: "attendee@example.org",
      positions: [{ id: 1, positionid: 1, item: 1, attendee_name: "Ada Attendee", secret: "seed-ticket-of-the-bench" }],
    }),
  ];
}
