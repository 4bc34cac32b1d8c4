import {
  type NewVoucher,
  PriceMode,
  type Voucher,
  VoucherFields,
} from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";
import { voucher } from "@tessera/resources/voucher";
import { fields } from "@tessera/schema/fields";
import { compileSchema, type TypeOf } from "@tessera/schema/schema";
import { formatInstant } from "@tessera/values";
import type { SentVoucher } from "./schema.ts";

const { price_mode, ...alike } = voucher.properties;

/** The message without the field that is a word in the API and an enum between services. */
const codec: { decode(bytes: Uint8Array): Omit<VoucherFields, "priceMode"> } = VoucherFields;

const alikeFields = fields({ properties: alike }, codec);

type PriceModeWord = TypeOf<typeof price_mode>;

const modes: Readonly<Record<PriceModeWord, PriceMode>> = {
  none: PriceMode.NONE,
  set: PriceMode.SET,
  subtract: PriceMode.SUBTRACT,
  percent: PriceMode.PERCENT,
};

export const priceModes = Object.keys(modes) as readonly PriceModeWord[];

export function readPriceMode(word: PriceModeWord): PriceMode {
  return modes[word];
}

function namePriceMode(mode: PriceMode): PriceModeWord {
  return priceModes.find((word) => modes[word] === mode) ?? "none";
}

/** The default of every field but the code, which has none. */
const defaults = readDefaults();

function readDefaults(): SentVoucher {
  const checked = compileSchema(voucher)({});
  if (!checked.ok) throw new Error("the defaults of a voucher are not valid");
  return checked.value;
}

/** What a client sent, and the default of what it left out. */
export function withDefaults(sent: SentVoucher): SentVoucher {
  return { ...defaults, ...sent };
}

/** The fields of a body, in the form of a message. What is missing gets the zero value. */
export function toFields(sent: SentVoucher): VoucherFields {
  const mode = sent.price_mode;
  const priceMode = mode === undefined ? PriceMode.UNSPECIFIED : readPriceMode(mode);
  return { ...alikeFields.toMessage(sent), priceMode };
}

/** A voucher to create. */
export function toNewVoucher(sent: SentVoucher): NewVoucher {
  return { fields: toFields(withDefaults(sent)), sent: namesIn(sent) };
}

/** The names of the fields that were sent, in the order of the schema. */
export function namesIn(sent: SentVoucher): string[] {
  return names.filter((name) => Object.hasOwn(sent, name));
}

const names = Object.keys(voucher.properties);

/** The fields of a voucher, in the order in which clients know them. */
export function presentVoucher(shown: Voucher | undefined) {
  if (shown?.fields === undefined) throw new Error("voucher answered without the fields of a voucher");
  const set = alikeFields.present(shown.fields);
  return {
    id: shown.id,
    created: formatInstant(shown.createdAt),
    code: set.code,
    max_usages: set.max_usages,
    redeemed: shown.redeemed,
    min_usages: set.min_usages,
    valid_until: set.valid_until,
    block_quota: set.block_quota,
    allow_ignore_quota: set.allow_ignore_quota,
    price_mode: namePriceMode(shown.fields.priceMode),
    value: set.value,
    item: set.item,
    variation: set.variation,
    quota: set.quota,
    seat: set.seat,
    tag: set.tag,
    comment: set.comment,
    subevent: set.subevent,
    show_hidden_items: set.show_hidden_items,
    all_addons_included: set.all_addons_included,
    all_bundles_included: set.all_bundles_included,
    budget: set.budget,
    budget_used: shown.budgetUsed,
  };
}
