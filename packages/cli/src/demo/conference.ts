import { conferenceElements, drawConference } from "./conference-layout.ts";
import { commonRecords, itemRecord, type OfEvent } from "./demo-event.ts";
import { demoOrder, type Purchase } from "./demo-order.ts";
import { drawNumber } from "./draw.ts";
import { code, layoutRecords } from "./layout-elements.ts";
import { personOf } from "./people.ts";

export const conference = "conference";

/** Each has an order of its own. */
const attendees = 3000;

const ticket = { id: 1, price: "249.00" };
const student = { id: 2, price: "89.00" };
const vip = { id: 3, price: "590.00" };
const workshop = { id: 4, price: "60.00" };
const shirt = { id: 5, price: "25.00" };

const workshops = [
  { id: 41, value: { en: "Accessible entrances", de: "Barrierefreie Eingänge" } },
  { id: 42, value: { en: "Crowds and queues", de: "Menschen und Schlangen" } },
  { id: 43, value: { en: "Tickets without paper", de: "Karten ohne Papier" } },
];
/** Only workshops and shirts have questions, so the main entrance asks none. */
const questions = [
  {
    id: 1,
    question: { en: "Which language do you prefer?", de: "Welche Sprache ist Ihnen lieber?" },
    type: "C",
    required: true,
    items: [workshop.id],
    options: [
      { id: 11, identifier: "EN", position: 1, answer: { en: "English", de: "Englisch" } },
      { id: 12, identifier: "DE", position: 2, answer: { en: "German", de: "Deutsch" } },
    ],
  },
  {
    id: 2,
    question: { en: "How many sockets do you need?", de: "Wie viele Steckdosen brauchen Sie?" },
    type: "N",
    required: false,
    items: [workshop.id],
    valid_number_min: "0",
    valid_number_max: "4",
  },
  {
    id: 3,
    question: { en: "Shirt handed over?", de: "T-Shirt ausgegeben?" },
    type: "B",
    required: true,
    items: [shirt.id],
  },
];
const shirts = ["S", "M", "L", "XL"].map((size, index) => ({ id: 51 + index, value: { en: size } }));

/** For VIPs, once a day: at the main entrance at any time, elsewhere from half an hour before admission. */
const dinnerRules = {
  and: [
    { inList: [{ var: "product" }, { objectList: [{ lookup: ["product", String(vip.id), "VIP ticket"] }] }] },
    {
      or: [
        { inList: [{ var: "gate" }, { objectList: [{ lookup: ["gate", "1", "Main entrance"] }] }] },
        { isAfter: [{ var: "now" }, { buildTime: ["date_admission"] }, 30] },
      ],
    },
    { "<": [{ var: "entries_today" }, 1] },
  ],
};

/**
 * A conference of three days with workshops and shirts as add-ons. About a quarter of the attendees have one, and are
 * asked something when they use it.
 */
export function* conferenceRecords(ofEvent: OfEvent): Generator<object> {
  yield ofEvent("event", {
    slug: conference,
    name: { en: "Demo Conference", de: "Demo-Konferenz" },
    live: true,
    currency: "EUR",
    timezone: "Europe/Berlin",
    location: {
      en: "Congress Centre, Hall 2\nUferstraße 12, Berlin",
      de: "Kongresszentrum, Halle 2\nUferstraße 12, Berlin",
    },
    date_from: "2027-05-12T09:00:00+02:00",
    date_to: "2027-05-14T17:00:00+02:00",
    date_admission: "2027-05-12T08:00:00+02:00",
    has_subevents: false,
  });
  yield* commonRecords(ofEvent, [
    { en: "Tickets" },
    { en: "Workshops", de: "Workshops" },
    { en: "Shirts", de: "T-Shirts" },
  ]);
  const addons = [2, 3].map((category) => ({ addon_category: category, min_count: 0, max_count: 1 }));
  const tickets = [
    [ticket, { en: "Conference ticket", de: "Konferenzticket" }],
    [student, { en: "Student ticket", de: "Studierendenticket" }],
    [vip, { en: "VIP ticket", de: "VIP-Ticket" }],
  ] as const;
  for (const [sold, name] of tickets) yield ofEvent("item", itemRecord(sold, { name, category: 1, addons }));
  for (const [sold, name, category, values] of [
    [workshop, { en: "Workshop", de: "Workshop" }, 2, workshops],
    [shirt, { en: "Shirt", de: "T-Shirt" }, 3, shirts],
  ] as const) {
    const { price } = sold;
    const variations = values.map((value, position) => ({ ...value, price, active: true, position }));
    yield ofEvent("item", itemRecord(sold, { name, category, variations }));
  }
  for (const question of questions)
    yield ofEvent("question", { ...question, position: question.id, ask_during_checkin: true });
  yield ofEvent("quota", { id: 1, name: "Everybody", size: 3500, items: [1, 2, 3], variations: [] });
  yield ofEvent("quota", { id: 2, name: "VIP", size: 400, items: [3], variations: [] });
  for (const [index, { id }] of workshops.entries()) {
    yield ofEvent("quota", { id: 3 + index, name: `Workshop ${index + 1}`, size: 200, items: [4], variations: [id] });
  }
  yield* layoutRecords(ofEvent, {
    name: "Ticket and badge",
    elements: conferenceElements,
    background: drawConference(),
    items: tickets.map(([{ id }]) => id),
  });
  // Of no product: it can be changed and deleted, and the tickets stay as they are.
  yield ofEvent("ticket_layout", { id: 2, name: "Plain ticket", default: false, layout: [code([20, 150], 60)] });
  const asOf = "2026-01-01T00:00:00Z";
  yield ofEvent("quota", { id: 6, name: "Shirts", size: 1000, items: [5], variations: shirts.map(({ id }) => id) });
  yield* orders(ofEvent);
  yield ofEvent("voucher", {
    id: 1,
    code: "PRESS-2027",
    tag: "press",
    max_usages: 50,
    price_mode: "set",
    value: "0.00",
    item: 1,
    as_of: asOf,
  });
  yield ofEvent("voucher", {
    id: 2,
    code: "TENPERCENT",
    max_usages: 1000,
    price_mode: "percent",
    value: "10.00",
    budget: "5000.00",
    as_of: asOf,
  });
  yield ofEvent("voucher", { id: 3, code: "VIP-FRIENDS", max_usages: 5, block_quota: true, quota: 2, as_of: asOf });
  yield ofEvent("checkin_list", {
    id: 4,
    name: "VIP dinner",
    all_products: true,
    allow_multiple_entries: true,
    rules: dinnerRules,
  });
  yield ofEvent("checkin_list", {
    id: 3,
    name: "VIP lounge",
    all_products: false,
    limit_products: [vip.id],
    allow_entry_after_exit: true,
    exit_all_at: "2027-05-12T23:00:00+02:00",
  });
  yield ofEvent("checkin_list", {
    id: 2,
    name: "Workshops and shirts",
    all_products: false,
    limit_products: [4, 5],
    addon_match: true,
  });
  yield ofEvent("checkin_list", { id: 1, name: "Main entrance", all_products: false, limit_products: [1, 2, 3] });
}

function* orders(ofEvent: OfEvent): Generator<object> {
  for (let number = 1, position = 1; number <= attendees; number += 1) {
    const person = personOf(number);
    const kind = drawNumber(`${conference} kind ${number}`, 10);
    const bought = kind < 7 ? ticket : kind < 9 ? student : vip;
    const purchases: Purchase[] = [{ item: bought.id, price: bought.price, person }];
    const extra = drawNumber(`${conference} extra ${number}`, 60);
    const chosen = workshops[extra % workshops.length];
    const worn = shirts[extra % shirts.length];
    if (extra < 9 && chosen !== undefined)
      purchases.push({ item: workshop.id, variation: chosen.id, price: workshop.price, isAddon: true });
    if (extra >= 6 && extra < 15 && worn !== undefined)
      purchases.push({ item: shirt.id, variation: worn.id, price: shirt.price, isAddon: true });
    yield ofEvent("order", demoOrder({ event: conference, number, firstPosition: position, buyer: person, purchases }));
    position += purchases.length;
  }
}
