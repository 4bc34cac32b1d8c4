/** Tells what is wrong with a value at a place: nothing, or a sentence for each problem. */
type Check = (value: unknown, place: string) => string[];

/** The fields that must be there. Others are allowed. */
type Fields = Readonly<Record<string, Check>>;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const of =
  (what: string, holds: (value: unknown) => boolean): Check =>
  (value, place) =>
    holds(value) ? [] : [`${place} is ${JSON.stringify(value) ?? "missing"}, and must be ${what}`];

const text = of("a text", (value) => typeof value === "string");
const number = of("a number", (value) => typeof value === "number");
const flag = of("a flag", (value) => typeof value === "boolean");
const instant = of("an instant", (value) => typeof value === "string" && /^\d{4}-.*Z$/.test(value));
const money = of("an amount", (value) => typeof value === "string" && /^\d+\.\d\d$/.test(value));
const anyObject = of("an object", isObject);
const link = of("an absolute address", (value) => typeof value === "string" && URL.canParse(value));
const orNull =
  (check: Check): Check =>
  (value, place) =>
    value === null ? [] : check(value, place);

/** Texts by language: an object with texts, and never a text. */
const localized = of("texts by language", (value) => isObject(value) && Object.values(value).every(isText));
const isText = (value: unknown) => typeof value === "string";

const having =
  (fields: Fields): Check =>
  (value, place) =>
    isObject(value)
      ? Object.entries(fields).flatMap(([name, check]) => check(value[name], `${place}.${name}`))
      : anyObject(value, place);

/** An array, of which each element is checked. */
const each =
  (check: Check): Check =>
  (value, place) =>
    Array.isArray(value)
      ? value.flatMap((element, index) => check(element, `${place}[${index}]`))
      : [`${place} is ${JSON.stringify(value) ?? "missing"}, and must be an array`];

/** A page with at least one result: an empty one proves nothing. */
const page =
  (fields: Fields): Check =>
  (value, place) => [
    ...having({ count: number, next: orNull(link), results: each(having(fields)) })(value, place),
    ...(isObject(value) && Array.isArray(value["results"]) && value["results"].length > 0
      ? []
      : [`${place} has no result`]),
  ];

const gate = orNull(having({ id: number, name: text }));
const ids = each(number);
const variation = {
  ...{ id: number, value: localized, price: money, active: flag, position: number },
  ...{ checkin_attention: flag, checkin_text: orNull(text) },
};
const option = having({ id: number, position: number, identifier: text, answer: localized });
const question = {
  ...{ id: number, position: number, question: localized, type: text, required: flag, options: each(option) },
  ...{ ask_during_checkin: flag, show_during_checkin: flag, identifier: text, hidden: flag },
  ...{ dependency_question: orNull(number), dependency_values: each(text), dependency_value: orNull(text) },
};
const date = {
  ...{ id: number, event: text, name: localized, date_from: instant, date_to: orNull(instant), active: flag },
  ...{ is_public: flag, seat_category_mapping: anyObject },
  ...{ item_price_overrides: each(anyObject), variation_price_overrides: each(anyObject) },
};

/** The position of a scan. */
const position = {
  ...{ id: number, order: text, positionid: number, item: number, variation: orNull(number), secret: text },
  ...{ attendee_name: orNull(text), seat: orNull(having({ name: text })), order__locale: text, order__status: text },
  ...{ subevent: orNull(number), addon_to: orNull(number), price: money, pseudonymization_id: text },
  ...{
    blocked: orNull(each(text)),
    valid_from: orNull(instant),
    valid_until: orNull(instant),
    require_attention: flag,
  },
  checkins: each(having({ list: number, datetime: instant, type: text })),
  print_logs: each(
    having({ type: text, successful: flag, datetime: instant, source: text, device_id: orNull(number) }),
  ),
  answers: each(
    having({
      answer: text,
      question: having({ id: number, position: number, required: flag, show_during_checkin: flag }),
    }),
  ),
};
const scan = {
  ...{ status: text, require_attention: flag, checkin_texts: each(text) },
  list: having({ id: number, name: text, event: text, include_pending: flag }),
};
const refusal = { ...scan, reason: text, reason_explanation: orNull(text) };

/**
 * What the scanners in the field need of each answer, with the type in which they read it: without one of these fields a
 * scanner stops, or shows nothing.
 */
export const scannerNeeds = {
  initialized: having({
    ...{ organizer: text, device_id: number, unique_serial: text, api_token: text, name: text },
    ...{ security_profile: text, gate },
  }),
  updated: having({ name: text, gate }),
  info: having({
    server: having({ version: having({ pretix_numeric: number }) }),
    device: having({ name: text, gate }),
  }),
  events: page({
    ...{ slug: text, name: localized, date_from: instant, date_to: orNull(instant), live: flag },
    ...{ has_subevents: flag, timezone: text, best_availability_state: orNull(number) },
  }),
  event: having({
    ...{ slug: text, currency: text, date_from: instant, has_subevents: flag, live: flag },
    ...{ seat_category_mapping: anyObject, valid_keys: having({ pretix_sig1: each(text) }) },
    ...{ date_to: orNull(instant), date_admission: orNull(instant), name: localized, timezone: text },
    ...{ testmode: flag, plugins: each(text), seating_plan: orNull(number) },
  }),
  dates: page(date),
  date: having(date),
  categories: page({
    ...{ id: number, position: number, name: localized, is_addon: flag },
    ...{ internal_name: orNull(text), description: orNull(localized) },
  }),
  items: page({
    ...{ id: number, position: number, name: localized, checkin_attention: flag, checkin_text: orNull(text) },
    ...{ variations: each(having(variation)), addons: each(anyObject), bundles: each(anyObject) },
    ...{ internal_name: orNull(text), active: flag, admission: flag, category: orNull(number) },
    ...{ picture: orNull(link), media_policy: orNull(text), media_type: orNull(text), default_price: money },
    ...{ free_price: flag, tax_rate: money, require_voucher: flag, hide_without_voucher: flag, allow_cancel: flag },
    ...{ require_approval: flag, require_bundling: flag, has_variations: flag, sales_channels: each(text) },
  }),
  questions: page({ ...question, items: ids }),
  badges: having({ count: number, next: orNull(link), results: each(anyObject) }),
  lists: page({
    ...{ id: number, name: text, all_products: flag, limit_products: ids, include_pending: flag },
    ...{ subevent: orNull(number), allow_multiple_entries: flag, allow_entry_after_exit: flag, rules: anyObject },
    addon_match: flag,
  }),
  countedLists: page({ id: number, name: text, position_count: number, checkin_count: number }),
  revoked: page({ id: number, secret: text, created: instant }),
  blocked: page({ id: number, secret: text, blocked: flag, updated: instant }),
  media: page({
    ...{ id: number, type: text, identifier: text, active: flag, expires: orNull(instant), created: orNull(instant) },
    ...{ linked_orderposition: orNull(number), linked_orderpositions: ids },
    ...{ linked_giftcard: orNull(number), customer: orNull(text) },
  }),
  settings: anyObject,
  gates: page({ id: number, name: text }),
  status: having({
    ...{ checkin_count: number, position_count: number, inside_count: number, event: having({ name: text }) },
    items: each(
      having({
        ...{ id: number, name: text, admission: flag, checkin_count: number, position_count: number },
        variations: each(having({ id: number, value: text, checkin_count: number, position_count: number })),
      }),
    ),
  }),
  found: page({ ...position, answers: each(anyObject) }),
  admitted: having({ ...scan, position: having({ ...position, pdf_data: anyObject }) }),
  refused: having({ ...refusal, position: having(position) }),
  unknown: having({ ...refusal, detail: text }),
  incomplete: having({ ...scan, position: having(position), questions: each(having({ ...question, items: ids })) }),
  exchange: having({ ...refusal, media_policy: text, media_type: text, position: having(position) }),
  uploaded: having({ id: text }),
} as const satisfies Readonly<Record<string, Check>>;
