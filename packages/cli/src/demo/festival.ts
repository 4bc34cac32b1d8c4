import { demoOrder, type Purchase } from "./demo-order.ts";
import { drawNumber } from "./draw.ts";
import { personOf } from "./people.ts";

const festival = "festival";

const days = [
  { id: 1, name: { en: "Friday", de: "Freitag" }, date: "2027-06-18", morning: "2027-06-19" },
  { id: 2, name: { en: "Saturday", de: "Samstag" }, date: "2027-06-19", morning: "2027-06-20" },
  { id: 3, name: { en: "Sunday", de: "Sonntag" }, date: "2027-06-20", morning: "2027-06-21" },
];

const dayTicket = { id: 1, price: "79.00" };
const camping = { id: 2, price: "35.00" };
const parking = { id: 3, price: "12.50" };

/** Asked for camping and parking alone: at the gates of the day everybody walks through. */
const questions = [
  {
    id: 1,
    question: { en: "How many people in the tent?", de: "Wie viele Personen im Zelt?" },
    type: "N",
    required: true,
    items: [camping.id],
    valid_number_min: "1",
    valid_number_max: "8",
  },
  {
    id: 2,
    question: { en: "Safety rules explained?", de: "Sicherheitsregeln erklärt?" },
    type: "B",
    required: true,
    items: [camping.id],
  },
  {
    id: 3,
    question: { en: "Kind of vehicle", de: "Art des Fahrzeugs" },
    type: "C",
    required: false,
    items: [parking.id],
    options: [
      { id: 31, identifier: "CAR", position: 1, answer: { en: "Car", de: "Auto" } },
      { id: 32, identifier: "VAN", position: 2, answer: { en: "Van", de: "Transporter" } },
      { id: 33, identifier: "CAMPER", position: 3, answer: { en: "Camper", de: "Wohnmobil" } },
    ],
  },
];

/** On the day of the ticket, from an hour before admission to its end. */
const stageRules = {
  and: [
    { isAfter: [{ var: "now" }, { buildTime: ["date_admission"] }, 60] },
    { isBefore: [{ var: "now" }, { buildTime: ["date_to"] }, 0] },
  ],
};

type OfEvent = (kind: string, data: Readonly<Record<string, unknown>>) => object;

/** A festival as a series of three days, each with its quotas and its gate; `positions` are sold in orders of one to four visitors. */
export function* festivalRecords(ofEvent: (event: string) => OfEvent, positions: number): Generator<object> {
  const of = ofEvent(festival);
  yield of("event", {
    slug: festival,
    name: { en: "Demo Festival", de: "Demo-Festival" },
    live: true,
    currency: "EUR",
    timezone: "Europe/Berlin",
    date_from: "2027-06-18T14:00:00+02:00",
    date_to: "2027-06-21T02:00:00+02:00",
    has_subevents: true,
  });
  yield of("event_settings", { locale: "en", locales: ["en", "de"], ticket_download: true });
  for (const { id, name, date } of days) {
    const at = (time: string) => `${date}T${time}:00+02:00`;
    yield of("subevent", {
      id,
      name,
      active: true,
      date_from: at("14:00"),
      date_to: at("23:30"),
      date_admission: at("12:00"),
    });
  }
  yield of("tax_rule", { id: 1, name: { en: "VAT" }, rate: "19.00", price_includes_tax: true });
  yield of("category", { id: 1, name: { en: "Day tickets", de: "Tagestickets" }, position: 1, is_addon: false });
  yield of("category", {
    id: 2,
    name: { en: "Camping and parking", de: "Camping und Parken" },
    position: 2,
    is_addon: true,
  });
  const addons = [{ addon_category: 2, min_count: 0, max_count: 2 }];
  for (const [{ id, price }, name, category] of [
    [dayTicket, { en: "Day ticket", de: "Tagesticket" }, 1],
    [camping, { en: "Camping", de: "Camping" }, 2],
    [parking, { en: "Parking", de: "Parkplatz" }, 2],
  ] as const) {
    yield of("item", {
      id,
      name,
      default_price: price,
      category,
      position: id,
      tax_rule: 1,
      admission: category === 1,
      active: true,
      variations: [],
      addons: category === 1 ? addons : [],
      bundles: [],
    });
  }
  for (const question of questions)
    yield of("question", { ...question, position: question.id, ask_during_checkin: true });
  for (const { id, name } of days) {
    yield of("quota", {
      id: id * 10 + 1,
      name: `${name.en}, visitors`,
      size: 6000,
      items: [1],
      variations: [],
      subevent: id,
    });
    yield of("quota", {
      id: id * 10 + 2,
      name: `${name.en}, camping`,
      size: 1500,
      items: [2],
      variations: [],
      subevent: id,
    });
    yield of("quota", {
      id: id * 10 + 3,
      name: `${name.en}, parking`,
      size: 1000,
      items: [3],
      variations: [],
      subevent: id,
    });
  }
  yield* orders(of, positions);
  for (const { id, name, morning } of days) {
    yield of("checkin_list", {
      id,
      name: `${name.en}, main gate`,
      all_products: false,
      limit_products: [dayTicket.id],
      subevent: id,
      allow_entry_after_exit: true,
      exit_all_at: `${morning}T04:00:00+02:00`,
    });
  }
  yield of("checkin_list", {
    id: 4,
    name: "Camping",
    all_products: false,
    limit_products: [camping.id],
    subevent: null,
    addon_match: true,
  });
  yield of("checkin_list", {
    id: 5,
    name: "Parking",
    all_products: false,
    limit_products: [parking.id],
    subevent: null,
    allow_multiple_entries: true,
  });
  yield of("checkin_list", {
    id: 6,
    name: "Front of stage",
    all_products: false,
    limit_products: [dayTicket.id],
    subevent: null,
    allow_entry_after_exit: false,
    rules: stageRules,
  });
}

function* orders(of: OfEvent, positions: number): Generator<object> {
  for (let number = 1, position = 1; position <= positions; number += 1) {
    const purchases = purchasesOf(number).slice(0, positions - position + 1);
    const buyer = personOf(number);
    yield of("order", demoOrder({ event: festival, number, firstPosition: position, buyer, purchases }));
    position += purchases.length;
  }
}

/** Whoever comes for the whole weekend has a ticket for each day. */
function purchasesOf(number: number): Purchase[] {
  const roll = (about: string, limit: number) => drawNumber(`${festival} ${about} ${number}`, limit);
  const visitors = 1 + roll("visitors", 4);
  const isWeekend = roll("weekend", 5) === 0;
  const first = roll("day", days.length);
  const visited = isWeekend ? days : days.slice(first, first + 1);
  const purchases: Purchase[] = [];
  for (let visitor = 0; visitor < visitors; visitor += 1) {
    const person = personOf(number + visitor * 977);
    for (const { id: subevent } of visited)
      purchases.push({ item: dayTicket.id, price: dayTicket.price, subevent, person });
  }
  const [{ id: arrival } = { id: 1 }] = visited;
  if (roll("camping", 4) === 0)
    purchases.push({ item: camping.id, price: camping.price, subevent: arrival, isAddon: true });
  if (roll("parking", 6) === 0)
    purchases.push({ item: parking.id, price: parking.price, subevent: arrival, isAddon: true });
  return purchases;
}
