export const operatorKey = "bench-operator-key-0123456789abcdef";

/** The key of the benchmarks, which may do everything with the organizer `bench`. */
export const apiKey = "bench-api-key-0123456789abcdef";

/** Writes a record of the organizer's event, or of another place. */
export function recordOf(kind: string, data: object, place: object = { event: "festival" }): string {
  return JSON.stringify({ kind, organizer: "bench", ...place, data });
}

/** The organizer with its key, its event and an item, as records. */
export const groundwork: readonly string[] = [
  recordOf("organizer", { slug: "bench", name: "Bench" }, {}),
  recordOf("api_key", { token: apiKey, name: "bench", permissions: ["*"], all_events: true }, {}),
  recordOf("event", {
    ...{ slug: "festival", name: { en: "Festival" }, live: true, currency: "EUR", timezone: "Europe/Berlin" },
    ...{ date_from: "2027-07-01T10:00:00Z", has_subevents: false },
  }),
  recordOf("item", { id: 1, name: { en: "Ticket" }, default_price: "99.00", admission: true, active: true }),
];

const gateRules = {
  and: [
    { isAfter: [{ var: "now" }, { buildTime: ["custom", "2026-01-01T00:00:00Z"] }, null] },
    { "<": [{ var: "entries_number" }, 3] },
  ],
};

/** The groundwork with a second product, a list with products and a rule, and one ticket. */
export const gate: readonly string[] = [
  ...groundwork,
  recordOf("item", { id: 2, name: { en: "Day ticket" }, default_price: "49.00", admission: true, active: true }),
  recordOf("checkin_list", { id: 1, name: "Gate", all_products: false, limit_products: [1, 2], rules: gateRules }),
  recordOf("checkin_list", { id: 2, name: "Backstage", all_products: true, limit_products: [] }),
  orderOf(1),
];

export function secretOf(number: number): string {
  return `bench${String(number).padStart(27, "0")}`;
}

/** A paid order with one ticket; its number is that of both. */
export function orderOf(
  number: number,
  { event = "festival", order = {}, position = {} }: { event?: string; order?: object; position?: object } = {},
): string {
  const name = `Attendee Number ${number}`;
  const ticket = {
    ...{ id: number, positionid: 1, item: 1, price: "99.00", tax_rate: "19.00", tax_value: "15.81" },
    ...{ attendee_name: name, attendee_name_parts: { full_name: name }, attendee_email: null },
    ...{ secret: secretOf(number), pseudonymization_id: `P${number}`, ...position },
  };
  return recordOf(
    "order",
    {
      ...{ code: `B${number.toString(36).toUpperCase().padStart(6, "0")}`, status: "p", locale: "en" },
      ...{ email: `attendee.${number}@example.org`, sales_channel: "web", datetime: "2027-01-01T12:00:00.000Z" },
      ...{ total: "99.00", ...order, positions: [ticket] },
    },
    { event },
  );
}
