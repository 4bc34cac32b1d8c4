import { commonRecords, itemRecord, type OfEvent } from "./demo-event.ts";
import { demoOrder, type Purchase } from "./demo-order.ts";
import { drawNumber } from "./draw.ts";
import { drawFestival, festivalElements } from "./festival-layout.ts";
import { layoutRecords } from "./layout-elements.ts";
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

/** Only camping and parking have questions, so the main gates ask none. */
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

/** On the day of the ticket, from an hour before admission to the end of the day. */
const stageRules = {
  and: [
    { isAfter: [{ var: "now" }, { buildTime: ["date_admission"] }, 60] },
    { isBefore: [{ var: "now" }, { buildTime: ["date_to"] }, 0] },
  ],
};

/** A festival as a series of three days, each with its quotas and gate. Orders of one to four visitors make `positions`. */
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
  for (const { id, name, date } of days) {
    const at = (time: string) => `${date}T${time}:00+02:00`;
    const times = { date_admission: at("12:00"), date_from: at("14:00"), date_to: at("23:30") };
    yield of("subevent", { id, name, active: true, ...times });
  }
  const categories = [
    { en: "Day tickets", de: "Tagestickets" },
    { en: "Camping and parking", de: "Camping und Parken" },
  ];
  yield* commonRecords(of, categories);
  const addons = [{ addon_category: 2, min_count: 0, max_count: 2 }];
  yield of("item", itemRecord(dayTicket, { name: { en: "Day ticket", de: "Tagesticket" }, category: 1, addons }));
  yield of("item", itemRecord(camping, { name: { en: "Camping", de: "Camping" }, category: 2 }));
  yield of("item", itemRecord(parking, { name: { en: "Parking", de: "Parkplatz" }, category: 2 }));
  for (const question of questions)
    yield of("question", { ...question, position: question.id, ask_during_checkin: true });
  yield* layoutRecords(of, {
    name: "Narrow ticket",
    elements: festivalElements,
    background: drawFestival(),
    items: [dayTicket.id],
  });
  const quotas = [
    ["visitors", 6000, dayTicket],
    ["camping", 1500, camping],
    ["parking", 1000, parking],
  ] as const;
  for (const { id: subevent, name: day } of days) {
    for (const [index, [what, size, { id: item }]] of quotas.entries()) {
      const name = `${day.en}, ${what}`;
      yield of("quota", { id: subevent * 10 + 1 + index, name, size, items: [item], variations: [], subevent });
    }
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
  for (const list of [
    { id: 4, name: "Camping", limit_products: [camping.id], addon_match: true },
    { id: 5, name: "Parking", limit_products: [parking.id], allow_multiple_entries: true },
    { id: 6, name: "Front of stage", limit_products: [dayTicket.id], allow_entry_after_exit: false, rules: stageRules },
  ])
    yield of("checkin_list", { all_products: false, subevent: null, ...list });
}

function* orders(of: OfEvent, positions: number): Generator<object> {
  for (let number = 1, position = 1; position <= positions; number += 1) {
    const purchases = purchasesOf(number).slice(0, positions - position + 1);
    const buyer = personOf(number);
    yield of("order", demoOrder({ event: festival, number, firstPosition: position, buyer, purchases }));
    position += purchases.length;
  }
}

/** A visitor of the whole weekend has a ticket for each day. */
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
