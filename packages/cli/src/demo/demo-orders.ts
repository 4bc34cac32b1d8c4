import { createHash } from "node:crypto";

const secretAlphabet = "abcdefghjkmnpqrstuvwxyz23456789";
const codeAlphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ379";

const givenNames = (
  "Amina Björn Chloé Dmitri Eszter Fatima Gökhan Hana Íñigo Jürgen Keiko Łukasz Māra Ngozi Øystein " +
  "Priya Quim Renée Søren Thị Ülle Věra Wei Xóchitl Ýmir Zoë"
).split(" ");
const familyNames = (
  "Adeyemi Bäcker Çelik Dubois Eriksson Fernández Großmann Hernández Ivanova Jørgensen Kowalski " +
  "Lindqvist Müller Nguyễn O’Connor Petrović Quispe Rossi Şahin Tanaka Ünal Virtanen Weiß Yılmaz Žižek"
).split(" ");

/** The conference sells one ticket in each order. */
const attendees = 3000;

const firstSale = Date.UTC(2027, 0, 4, 8);
const betweenSalesMs = 10 * 60_000;

/** What an order contains. Add-ons have no person, and follow their base ticket. */
interface Purchase {
  readonly item: number;
  readonly price: string;
  readonly variation?: number;
  readonly subevent?: number;
  /** The number of the person whose name is on the ticket. */
  readonly person?: number;
}

/** An order of the demo, as a record has it. */
export type Order = ReturnType<typeof orderOf>;

/** About a quarter of the attendees have a workshop, a shirt or both, and are asked something when they use it. */
export function* conferenceOrders(event: string): Generator<Order> {
  for (let number = 1, position = 1; number <= attendees; number += 1) {
    const kind = drawNumber(`${event} kind ${number}`, 10);
    const extra = drawNumber(`${event} extra ${number}`, 60);
    const ticket =
      kind < 7 ? { item: 1, price: "249.00" } : kind < 9 ? { item: 2, price: "89.00" } : { item: 3, price: "590.00" };
    const purchases: Purchase[] = [{ ...ticket, person: number }];
    if (extra < 9) purchases.push({ item: 4, variation: 41 + (extra % 3), price: "60.00" });
    if (extra >= 6 && extra < 15) purchases.push({ item: 5, variation: 51 + (extra % 4), price: "25.00" });
    yield orderOf(event, { number, position, purchases });
    position += purchases.length;
  }
}

/**
 * Orders of one to four visitors, for one of three days or the weekend (a ticket per day), up to a number of positions.
 */
export function* festivalOrders(event: string, positions: number): Generator<Order> {
  for (let number = 1, position = 1; position <= positions; number += 1) {
    const roll = (about: string, limit: number) => drawNumber(`${event} ${about} ${number}`, limit);
    const first = 1 + roll("day", 3);
    const days = roll("weekend", 5) === 0 ? [1, 2, 3] : [first];
    const [arrival = first] = days;
    const bought: Purchase[] = Array.from({ length: 1 + roll("visitors", 4) }, (_, visitor) =>
      days.map((subevent) => ({ item: 1, price: "79.00", subevent, person: number + visitor * 977 })),
    ).flat();
    if (roll("camping", 4) === 0) bought.push({ item: 2, price: "35.00", subevent: arrival });
    if (roll("parking", 6) === 0) bought.push({ item: 3, price: "12.50", subevent: arrival });
    const purchases = bought.slice(0, positions - position + 1);
    yield orderOf(event, { number, position, purchases });
    position += purchases.length;
  }
}

/** An order whose positions take the ids from `position` on. Every fiftieth is not paid yet. */
function orderOf(
  event: string,
  order: { readonly number: number; readonly position: number; readonly purchases: readonly Purchase[] },
) {
  const { number, position, purchases } = order;
  const cents = purchases.reduce((sum, { price }) => sum + Math.round(Number(price) * 100), 0);
  let ticket = position;
  const positions = purchases.map(({ item, variation = null, subevent = null, price, person }, index) => {
    const id = position + index;
    if (person !== undefined) ticket = id;
    const named = person === undefined ? undefined : nameOf(person);
    return {
      ...{ id, positionid: index + 1, item, variation, subevent, price, tax_rule: 1, tax_rate: "19.00" },
      attendee_name: named?.name ?? null,
      attendee_name_parts: named?.name_parts ?? {},
      secret: secretOf(event, id),
      pseudonymization_id: draw(`${event} pseudonym ${id}`, { length: 10, alphabet: codeAlphabet }),
      addon_to: person === undefined ? ticket : null,
    };
  });
  return {
    code: codeOf(event, number),
    status: number % 50 === 0 ? "n" : "p",
    email: `${event}${number}@example.org`,
    locale: number % 3 === 0 ? "de" : "en",
    sales_channel: "web",
    datetime: new Date(firstSale + number * betweenSalesMs).toISOString(),
    total: (cents / 100).toFixed(2),
    invoice_address: nameOf(number),
    positions,
  };
}

/** The name of a person by number: deterministic, with few repetitions. */
function nameOf(number: number) {
  const given = givenNames[(number * 7) % givenNames.length] ?? "";
  const family = familyNames[(number * 11 + Math.floor(number / givenNames.length)) % familyNames.length] ?? "";
  return {
    name: `${given} ${family}`,
    name_parts: { _scheme: "given_family", given_name: given, family_name: family },
  };
}

/** The code of an order: three letters that hide its number, then the number in letters. */
function codeOf(event: string, number: number): string {
  const base = codeAlphabet.length;
  const digits = [number / base ** 2, number / base, number].map((part) => codeAlphabet[Math.floor(part) % base]);
  return draw(`${event} code ${number}`, { length: 3, alphabet: codeAlphabet }) + digits.join("");
}

export function secretOf(event: string, position: number): string {
  return draw(`${event} secret ${position}`, { length: 32, alphabet: secretAlphabet });
}

/** Derives a deterministic text from its purpose, so that the demo is always the same. */
function draw(purpose: string, { length, alphabet }: { length: number; alphabet: string }): string {
  return Array.from(digest(purpose).subarray(0, length), (byte) => alphabet[byte % alphabet.length]).join("");
}

/** Derives a number from 0 to below the limit. */
function drawNumber(purpose: string, limit: number): number {
  return digest(purpose).readUInt32BE(0) % limit;
}

function digest(purpose: string): Buffer {
  return createHash("sha512").update(`tessera demo ${purpose}`).digest();
}
