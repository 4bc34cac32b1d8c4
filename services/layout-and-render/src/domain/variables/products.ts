import Big from "big.js";
import type { LocalFormats } from "../formats/formats.ts";
import type { Bundle, Position, Ticket } from "../ticket.ts";
import type { Evaluate, View } from "./view.ts";

function itemName({ ticket, formats }: View): string {
  return formats.text(ticket.position.item.name);
}

/** `<item> - <variation>`, or the item alone. */
function fullName({ item, variation }: Position, formats: LocalFormats): string {
  const name = formats.text(item.name);
  return variation === null ? name : `${name} - ${formats.text(variation.name)}`;
}

function writePrice(others: (ticket: Ticket) => readonly Position[]): Evaluate {
  return ({ ticket, formats }) => {
    const prices = [ticket.position, ...others(ticket)].map(({ price }) => price);
    const sum = prices.reduce((total, price) => total.plus(price), new Big(0));
    return formats.money(sum.eq(0) ? "0.00" : sum.toFixed(), ticket.event.currency);
  };
}

/** The add-ons that belong to the bundle of the product, in the bundled numbers. */
function bundledAddons({ position, addons }: Ticket): Position[] {
  const left = position.item.bundles.map((bundle) => ({ bundle, count: bundle.count }));
  return addons.filter((addon) => {
    const place = left.find(({ bundle, count }) => count > 0 && isOf(addon, bundle));
    if (place === undefined) return false;
    place.count -= 1;
    return true;
  });
}

function isOf({ item, variation }: Position, bundle: Bundle): boolean {
  return item.id === bundle.item && (variation?.id ?? null) === bundle.variation;
}

/** A line for each product among these add-ons, with its number if there are several. */
export function listAddons(listed: (ticket: Ticket) => readonly Position[]): Evaluate {
  return ({ ticket, formats }) => {
    const alike = Map.groupBy(listed(ticket), ({ item, variation }) => `${item.id} ${variation?.id}`);
    return [...alike.values()]
      .map((addons) => {
        const [first] = addons;
        if (first === undefined) return "";
        return `${addons.length > 1 ? `${addons.length}x ` : ""}${fullName(first, formats)}`;
      })
      .join("\n");
  };
}

export const products = {
  item: itemName,
  variation: ({ ticket, formats }) => formats.text(ticket.position.variation?.name ?? null),
  item_description: ({ ticket, formats }) => formats.text(ticket.position.item.description),
  itemvar: ({ ticket, formats }) => fullName(ticket.position, formats),
  itemvar_description: ({ ticket: { position }, formats }) =>
    formats.text((position.variation ?? position.item).description),
  item_category: ({ ticket, formats }) => formats.text(ticket.position.item.category),
  price: writePrice(() => []),
  price_with_addons: writePrice(({ addons }) => addons),
  price_with_bundled: writePrice(bundledAddons),
  addons: listAddons(({ addons }) => addons),
} as const satisfies Readonly<Record<string, Evaluate>>;
