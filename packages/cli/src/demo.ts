import { createHash } from "node:crypto";

/** Keys and ids that the demo's `curl` lines are made of. */
export const demo = {
  organizer: "demo",
  event: "conference",
  list: 1,
  tickets: 2000,
} as const;

const products = [
  { id: 1, name: { en: "Conference ticket", de: "Konferenzticket" }, price: "249.00", share: 0.7 },
  { id: 2, name: { en: "Student ticket", de: "Studierendenticket" }, price: "89.00", share: 0.2 },
  { id: 3, name: { en: "VIP ticket", de: "VIP-Ticket" }, price: "590.00", share: 0.1 },
];

const givenNames = [
  "Amina",
  "Björn",
  "Chloé",
  "Dmitri",
  "Eszter",
  "Fatima",
  "Gökhan",
  "Hana",
  "Íñigo",
  "Jürgen",
  "Keiko",
  "Łukasz",
  "Māra",
  "Ngozi",
  "Øystein",
  "Priya",
  "Quim",
  "Renée",
  "Søren",
  "Thị",
  "Ülle",
  "Věra",
  "Wei",
  "Xóchitl",
  "Ýmir",
  "Zoë",
];
const familyNames = [
  "Adeyemi",
  "Bäcker",
  "Çelik",
  "Dubois",
  "Eriksson",
  "Fernández",
  "Großmann",
  "Hernández",
  "Ivanova",
  "Jørgensen",
  "Kowalski",
  "Lindqvist",
  "Müller",
  "Nguyễn",
  "O’Connor",
  "Petrović",
  "Quispe",
  "Rossi",
  "Şahin",
  "Tanaka",
  "Ünal",
  "Virtanen",
  "Weiß",
  "Yılmaz",
  "Žižek",
];

const secretAlphabet = "abcdefghjkmnpqrstuvwxyz23456789";
const codeAlphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ379";

/** A text drawn from what it is for: the same demo every time. */
function drawn(purpose: string, length: number, alphabet: string): string {
  const bytes = createHash("sha512").update(`tessera demo ${purpose}`).digest();
  return Array.from(bytes.subarray(0, length), (byte) => alphabet[byte % alphabet.length]).join("");
}

/** The secret of a demo ticket, from 1. */
export function demoSecret(ticket: number): string {
  return drawn(`secret ${ticket}`, 32, secretAlphabet);
}

type DemoRecord = Readonly<{
  kind: string;
  organizer: string;
  event?: string;
  data: Readonly<Record<string, unknown>>;
}>;

/** The records of the demo: one organizer, one conference, its tickets, one list. */
function* demoRecords(keys: { apiKey: string; deviceKey: string }): Generator<DemoRecord> {
  const { organizer, event } = demo;
  const ofOrganizer = (kind: string, data: Record<string, unknown>): DemoRecord => ({ kind, organizer, data });
  const ofEvent = (kind: string, data: Record<string, unknown>): DemoRecord => ({ kind, organizer, event, data });

  yield ofOrganizer("organizer", { slug: organizer, name: "Demo Events" });
  yield ofOrganizer("api_key", { token: keys.apiKey, name: "demo", permissions: ["*"], all_events: true });
  yield ofOrganizer("gate", { id: 1, name: "Main entrance", identifier: "main" });
  yield ofOrganizer("device", {
    device_id: 1,
    token: keys.deviceKey,
    name: "Scanner 1",
    gate: 1,
    security_profile: "full",
    software_brand: "demo",
    all_events: true,
  });
  yield ofEvent("event", {
    slug: event,
    name: { en: "Demo Conference", de: "Demo-Konferenz" },
    live: true,
    currency: "EUR",
    timezone: "Europe/Berlin",
    date_from: "2027-05-12T09:00:00+02:00",
    date_to: "2027-05-14T17:00:00+02:00",
    has_subevents: false,
  });
  yield ofEvent("tax_rule", { id: 1, name: { en: "VAT" }, rate: "19.00", price_includes_tax: true });
  yield ofEvent("category", { id: 1, name: { en: "Tickets" }, position: 1, is_addon: false });
  for (const product of products) {
    yield ofEvent("item", {
      id: product.id,
      name: product.name,
      category: 1,
      position: product.id,
      default_price: product.price,
      tax_rule: 1,
      admission: true,
      active: true,
      variations: [],
      addons: [],
      bundles: [],
    });
  }
  yield ofEvent("quota", { id: 1, name: "Everybody", size: 2500, items: [1, 2, 3], variations: [], subevent: null });
  for (let ticket = 1; ticket <= demo.tickets; ticket += 1) yield ofEvent("order", demoOrder(ticket));
  yield ofEvent("checkin_list", {
    id: demo.list,
    name: "Main entrance",
    all_products: true,
    limit_products: [],
    include_pending: false,
    subevent: null,
  });
}

function demoOrder(ticket: number): Record<string, unknown> {
  const at = ticket / demo.tickets;
  const product = products[at <= 0.7 ? 0 : at <= 0.9 ? 1 : 2] ?? products[0];
  const given = givenNames[(ticket * 7) % givenNames.length] ?? "";
  const family = familyNames[(ticket * 11) % familyNames.length] ?? "";
  const placed = new Date(Date.UTC(2027, 0, 4, 8) + ticket * 30 * 60_000).toISOString();
  return {
    code: `${drawn(`code ${ticket}`, 3, codeAlphabet)}${toCode(ticket)}`,
    status: ticket % 50 === 0 ? "n" : "p",
    email: `attendee${ticket}@example.org`,
    locale: ticket % 3 === 0 ? "de" : "en",
    sales_channel: "web",
    datetime: placed,
    total: product?.price,
    positions: [
      {
        id: ticket,
        positionid: 1,
        item: product?.id,
        variation: null,
        price: product?.price,
        tax_rule: 1,
        tax_rate: "19.00",
        attendee_name: `${given} ${family}`,
        attendee_name_parts: { _scheme: "given_family", given_name: given, family_name: family },
        attendee_email: null,
        secret: demoSecret(ticket),
        pseudonymization_id: drawn(`pseudonym ${ticket}`, 10, codeAlphabet),
        addon_to: null,
        subevent: null,
      },
    ],
  };
}

/** Three letters that no other ticket of the demo has. */
function toCode(ticket: number): string {
  const base = codeAlphabet.length;
  return [ticket / base ** 2, ticket / base, ticket].map((part) => codeAlphabet[Math.floor(part) % base]).join("");
}

/** The demo as the NDJSON that an import reads. */
export async function* demoStream(keys: { apiKey: string; deviceKey: string }): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for (const record of demoRecords(keys)) yield encoder.encode(`${JSON.stringify(record)}\n`);
}
