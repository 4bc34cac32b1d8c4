/** A product to be sold. */
export interface Wanted {
  readonly item: number;
  readonly variation: number | null;
  readonly subevent: number | null;
  readonly salesChannel: string;
  readonly amount: number;
}

type Channels = readonly string[] | null;

interface Sold {
  readonly isActive: boolean;
  readonly channels: Channels;
}

/** The fields of an item that decide whether it is sold here. */
export interface OfferedItem extends Sold {
  readonly variations: ReadonlyMap<number, Sold>;
  readonly needsSeat: boolean;
  /** Sold only as part of a bundle, or only together with others. */
  readonly isAddon: boolean;
  readonly isBundledOnly: boolean;
  readonly hasBundles: boolean;
  readonly needsAddons: boolean;
  readonly needsMembership: boolean;
  readonly issuesGiftCard: boolean;
  /** Valid from the moment of its sale. */
  readonly isValidFromSale: boolean;
  readonly hasTaxRule: boolean;
}

/** A date of a series. */
export interface OfferedDate {
  readonly isActive: boolean;
  readonly hasItem: boolean;
  readonly hasVariation: boolean;
}

/** A field of a record that could not be read. */
export interface MisreadField {
  readonly of: "category" | "date" | "event" | "item" | "tax rule";
  readonly path: string;
}

/** The entities of an event for a sale. */
export interface Offer {
  readonly misread: readonly MisreadField[];
  readonly isSeries: boolean;
  readonly channels: Channels;
  readonly knowsChannel: boolean;
  readonly item: OfferedItem | null;
  readonly date: OfferedDate | null;
}

/** An error of a field, for people. */
export interface SaleProblem {
  readonly field: string;
  readonly message: string;
}

/** The limit of one sale. */
const mostTickets = 10_000;

/** Finds everything that prevents a sale, except quotas. */
export function findSaleProblems(wanted: Wanted, offer: Offer): SaleProblem[] {
  return [
    ...(wanted.amount < 1 || wanted.amount > mostTickets ? [wrong("amount", `Sell 1 to ${mostTickets} tickets.`)] : []),
    ...findItemProblems(offer.item),
    ...offer.misread.filter(decidesSale).map(toProblem),
    ...findVariationProblems(wanted, offer.item),
    ...findDateProblems(wanted, offer),
    ...findChannelProblems(wanted, offer),
  ];
}

/**
 * Fields that decide whether, where, or for how much something is sold: a default for an unreadable value is a guess.
 */
const ofSale: ReadonlySet<string> = new Set([
  ...["active", "all_sales_channels", "limit_sales_channels", "seat_category_mapping", "is_addon", "category"],
  ...["currency", "default_price", "tax_rule", "rate", "code", "price_includes_tax"],
  ...["require_bundling", "require_membership", "issue_giftcard", "addons", "addon_category", "min_count", "bundles"],
  ...["bundled_item", "validity_mode", "validity_fixed_from", "validity_fixed_until", "variations", "id"],
  ...["item_price_overrides", "variation_price_overrides", "item", "variation", "price", "disabled"],
]);

function decidesSale({ path }: MisreadField): boolean {
  return ofSale.has(path.slice(path.lastIndexOf(".") + 1));
}

function toProblem({ of, path }: MisreadField): SaleProblem {
  const message = `\`${path}\` in the record of the ${of} could not be read. Tickets are sold once it was sent right.`;
  return wrong(of === "date" ? "subevent" : "item", message);
}

function wrong(field: string, message: string): SaleProblem {
  return { field, message };
}

function findItemProblems(item: OfferedItem | null): SaleProblem[] {
  if (item === null) return [wrong("item", "The event has no item with this id.")];
  const reasons: readonly (readonly [applies: boolean, message: string])[] = [
    [!item.isActive, "This item is not active."],
    [item.needsSeat, "Each ticket of this item has a seat, and seats are not given out here."],
    [item.isAddon, "This item is sold together with others only."],
    [item.isBundledOnly, "This item is sold as a part of a bundle only."],
    [item.hasBundles, "Other items are a part of this item, and each order has one ticket only."],
    [item.needsAddons, "This item must be sold with add-ons, and each order has one ticket only."],
    [item.needsMembership, "This item is sold to members only."],
    [item.issuesGiftCard, "This item is a gift card, and none are issued here."],
    [item.isValidFromSale, "This item is valid from its sale on, and when its tickets are handed out is not known."],
    [!item.hasTaxRule, "The tax rule of this item is missing, or its rate is below zero."],
  ];
  return reasons.flatMap(([applies, message]) => (applies ? [wrong("item", message)] : []));
}

function findVariationProblems({ variation }: Wanted, item: OfferedItem | null): SaleProblem[] {
  if (item === null) return [];
  if (variation === null) return item.variations.size === 0 ? [] : [wrong("variation", "Say which variation is sold.")];
  if (item.variations.size === 0) return [wrong("variation", "This item has no variations.")];
  const sold = item.variations.get(variation);
  if (sold === undefined) return [wrong("variation", "The item has no variation with this id.")];
  return sold.isActive ? [] : [wrong("variation", "This variation is not active.")];
}

function findDateProblems({ subevent, variation }: Wanted, { isSeries, date }: Offer): SaleProblem[] {
  if (!isSeries) return subevent === null ? [] : [wrong("subevent", "The event is no series and has no dates.")];
  if (subevent === null) return [wrong("subevent", "Say for which date of the series tickets are sold.")];
  if (date === null) return [wrong("subevent", "The event has no date with this id.")];
  return [
    ...(date.isActive ? [] : [wrong("subevent", "This date is not active.")]),
    ...(date.hasItem ? [] : [wrong("item", "This item is not sold on this date.")]),
    ...(variation === null || date.hasVariation
      ? []
      : [wrong("variation", "This variation is not sold on this date.")]),
  ];
}

function findChannelProblems({ salesChannel, variation }: Wanted, offer: Offer): SaleProblem[] {
  if (!offer.knowsChannel) return [wrong("sales_channel", "The organizer has no sales channel with this identifier.")];
  const sold = variation === null ? undefined : offer.item?.variations.get(variation);
  const limits: readonly (readonly [what: string, limit: Channels | undefined])[] = [
    ["event", offer.channels],
    ["item", offer.item?.channels],
    ["variation", sold?.channels],
  ];
  return limits.flatMap(([what, limit]) =>
    limit?.includes(salesChannel) === false
      ? [wrong("sales_channel", `The ${what} is not sold on this sales channel.`)]
      : [],
  );
}
