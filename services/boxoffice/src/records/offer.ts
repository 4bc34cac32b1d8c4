import type { Misread } from "@tessera/records/read";
import type { EventDocument, EventSettings } from "@tessera/resources/records/event";
import type { ItemDocument } from "@tessera/resources/records/item";
import type { SubeventDocument } from "@tessera/resources/records/subevent";
import { listedPrice, placesOfCurrency } from "@tessera/values";
import type { MisreadField, Offer } from "../domain/find-sale-problems.ts";
import { addTax, type Money, type TaxRule } from "../domain/tax.ts";
import { webChannel } from "../domain/web-channel.ts";
import type { OfferDocuments } from "../store/sales.ts";
import type { Category } from "./category.ts";
import type { TaxRule as TaxRuleDocument } from "./tax-rule.ts";

export type Documents = OfferDocuments<
  EventDocument & Misread,
  EventSettings,
  ItemDocument & Misread,
  SubeventDocument & Misread,
  TaxRuleDocument & Misread,
  Category & Misread
>;

interface Product {
  readonly item: number;
  readonly variation: number | null;
  readonly salesChannel: string;
}

/** Extracts from documents what decides whether a product is sold. */
export function toOffer(documents: Documents, { item: id, variation, salesChannel }: Product): Offer {
  const { event, item, subevent, taxRule, category, knowsChannel } = documents;
  const isDisabled = (override: { readonly disabled: boolean } | undefined) => override?.disabled === true;
  const seats = Object.values((event.has_subevents ? subevent : event)?.seat_category_mapping ?? {});
  return {
    misread: [
      ...misreadOf("event", event),
      ...misreadOf("item", item),
      ...misreadOf("date", subevent),
      ...misreadOf("tax rule", taxRule),
      ...misreadOf("category", category),
    ],
    isSeries: event.has_subevents,
    channels: channelsOf(event),
    knowsChannel: knowsChannel || salesChannel === webChannel,
    item: item === null ? null : toItem(item, { taxRule, category, needsSeat: seats.includes(id) }),
    date:
      subevent === null
        ? null
        : {
            isActive: subevent.active,
            hasItem: !isDisabled(subevent.item_price_overrides.find((each) => each.item === id)),
            hasVariation: !isDisabled(subevent.variation_price_overrides.find((each) => each.variation === variation)),
          },
  };
}

function misreadOf(of: MisreadField["of"], document: Misread | null): readonly MisreadField[] {
  return (document?.unread ?? []).map((path) => ({ of, path }));
}

interface OfSale {
  readonly all_sales_channels: boolean;
  readonly limit_sales_channels: readonly string[];
}

function channelsOf({ all_sales_channels, limit_sales_channels }: OfSale): readonly string[] | null {
  return all_sales_channels ? null : limit_sales_channels;
}

function toItem(
  item: ItemDocument,
  { taxRule, category, needsSeat }: Pick<Documents, "taxRule" | "category"> & { readonly needsSeat: boolean },
): NonNullable<Offer["item"]> {
  const isSold = (each: OfSale & { readonly active: boolean }) => ({
    isActive: each.active,
    channels: channelsOf(each),
  });
  return {
    ...isSold(item),
    variations: new Map(item.variations.map((each) => [each.id, isSold(each)])),
    needsSeat,
    isAddon: category?.is_addon === true,
    isBundledOnly: item.require_bundling,
    hasBundles: item.bundles.length > 0,
    needsAddons: item.addons.some(({ min_count }) => min_count > 0),
    needsMembership: item.require_membership || item.variations.some((each) => each.require_membership),
    issuesGiftCard: item.issue_giftcard,
    isValidFromSale: item.validity_mode === "dynamic",
    hasTaxRule: item.tax_rule === null || (taxRule !== null && Number(taxRule.rate) >= 0),
  };
}

export function toMoney(
  { event, item, subevent, taxRule }: Documents & { readonly item: ItemDocument },
  { item: id, variation }: Product,
): Money {
  const sold = item.variations.find((each) => each.id === variation);
  const ofItem = subevent?.item_price_overrides.find((each) => each.item === id);
  const ofVariation = subevent?.variation_price_overrides.find((each) => each.variation === variation);
  const listed = listedPrice({
    item: item.default_price,
    variation: sold?.default_price ?? null,
    itemOnDate: ofItem?.price ?? null,
    variationOnDate: ofVariation?.price ?? null,
  });
  return addTax(listed, toRule(taxRule), placesOfCurrency(event.currency));
}

function toRule(rule: TaxRuleDocument | null): TaxRule | null {
  if (rule === null) return null;
  return { id: rule.id, rate: rule.rate, code: rule.code, includesTax: rule.price_includes_tax };
}
