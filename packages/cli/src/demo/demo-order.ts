import { codeAlphabet, draw, orderCode, secretAlphabet } from "./draw.ts";
import type { Person } from "./people.ts";

/** What is bought. Add-ons follow the ticket that they belong to. */
export interface Purchase {
  readonly item: number;
  readonly price: string;
  readonly variation?: number;
  readonly subevent?: number;
  readonly isAddon?: boolean;
  /** Undefined: no name is on the ticket. */
  readonly person?: Person;
}

/** The secret of a ticket of the demo. */
export function secretOf(event: string, position: number): string {
  return draw(`${event} secret ${position}`, { length: 32, alphabet: secretAlphabet });
}

const firstSale = Date.UTC(2027, 0, 4, 8);
const betweenSalesMs = 10 * 60_000;

/** An order of the demo. Its positions take the ids from `firstPosition` on; every fiftieth order is not paid yet. */
export function demoOrder(options: {
  event: string;
  /** From 1. */
  number: number;
  firstPosition: number;
  buyer: Person;
  purchases: readonly Purchase[];
}): Record<string, unknown> {
  const { event, number, firstPosition, buyer, purchases } = options;
  const cents = purchases.reduce((sum, { price }) => sum + Math.round(Number(price) * 100), 0);
  let ticket = firstPosition;
  const positions = purchases.map((purchase, index) => {
    const id = firstPosition + index;
    if (purchase.isAddon !== true) ticket = id;
    const { person } = purchase;
    return {
      id,
      positionid: index + 1,
      item: purchase.item,
      variation: purchase.variation ?? null,
      subevent: purchase.subevent ?? null,
      price: purchase.price,
      tax_rule: 1,
      tax_rate: "19.00",
      attendee_name: person === undefined ? null : `${person.given} ${person.family}`,
      attendee_name_parts:
        person === undefined ? {} : { _scheme: "given_family", given_name: person.given, family_name: person.family },
      secret: secretOf(event, id),
      pseudonymization_id: draw(`${event} pseudonym ${id}`, { length: 10, alphabet: codeAlphabet }),
      addon_to: purchase.isAddon === true ? ticket : null,
    };
  });
  return {
    code: orderCode(event, number),
    status: number % 50 === 0 ? "n" : "p",
    email: `${event}${number}@example.org`,
    locale: number % 3 === 0 ? "de" : "en",
    sales_channel: "web",
    datetime: new Date(firstSale + number * betweenSalesMs).toISOString(),
    total: (cents / 100).toFixed(2),
    invoice_address: {
      name: `${buyer.given} ${buyer.family}`,
      name_parts: { _scheme: "given_family", given_name: buyer.given, family_name: buyer.family },
    },
    positions,
  };
}
