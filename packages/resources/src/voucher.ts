import { boolean, choice, decimal, id, instant, integer, needed, object, text } from "@tessera/schema/build";

const count = { minimum: 0, maximum: 2_147_483_647 } as const;

const money = { digits: 13, places: 2, nullable: true, default: null } as const;

const reference = { nullable: true, default: null } as const;

/** What an organizer sets on a voucher: the body of the API, and most of a record. */
export const voucher = object({
  code: text({
    blank: false,
    minLength: 5,
    maxLength: 255,
    examples: ["SUMMER27"],
    description: "What a customer enters. Stored in upper case, and unique in the event; generated if it is missing.",
  }),
  max_usages: integer({ ...count, default: 1, description: "How often it can be redeemed.", examples: [1] }),
  min_usages: integer({
    ...count,
    default: 1,
    description: "How often it must be redeemed the first time.",
    examples: [1],
  }),
  valid_until: instant({ ...reference, description: "End of its validity; null: none." }),
  block_quota: boolean({ default: false, description: "Keeps capacity of the matching quotas free for it." }),
  allow_ignore_quota: boolean({ default: false, description: "Can be redeemed when the product is sold out." }),
  price_mode: choice(["none", "set", "subtract", "percent"], {
    default: "none",
    description: "What `value` does: nothing, is the price, is taken off the price, or is the percentage taken off.",
  }),
  value: decimal({ ...money, description: "Its meaning depends on `price_mode`.", examples: ["5.00"] }),
  item: id({ ...reference, description: "The product that it is for." }),
  variation: id({ ...reference, description: "The variation of the product that it is for; null: all." }),
  quota: id({ ...reference, description: "For the products of this quota; excludes `item` and `variation`." }),
  seat: text({
    ...reference,
    blank: false,
    maxLength: 255,
    description: "The `seat_guid` of the seat that it is for.",
    examples: ["stalls-1-7"],
  }),
  tag: text({ default: "", maxLength: 255, description: "Groups vouchers.", examples: ["press"] }),
  comment: text({
    default: "",
    maxLength: 65_536,
    description: "Internal comment, up to 64 KiB.",
    examples: ["For the press"],
  }),
  subevent: id({ ...reference, description: "Date of an event series; null: all dates." }),
  show_hidden_items: boolean({ default: true, description: "Shows products that are hidden without a voucher." }),
  all_addons_included: boolean({ default: false, description: "The price includes all add-ons." }),
  all_bundles_included: boolean({ default: false, description: "Bundled products have no price of their own." }),
  budget: decimal({
    ...money,
    description: "The sum of discounts after which it is used up; null: unlimited.",
    examples: ["100.00"],
  }),
});

const { max_usages, valid_until, price_mode, value, item, variation, quota, subevent, budget } = voucher.properties;

/** The data of a record. What a voucher is worth, for what, until when and how often is not left out. Codes that were printed stay valid, also those that are too short for a new voucher. */
export const voucherRecord = object(
  {
    id: id({ description: "Its id." }),
    ...voucher.properties,
    code: text({
      blank: false,
      maxLength: 255,
      description: "What a customer enters. Stored in upper case.",
      examples: ["SUMMER27"],
    }),
    max_usages: needed(max_usages),
    valid_until: needed(valid_until),
    price_mode: needed(price_mode),
    value: needed(value),
    item: needed(item),
    variation: needed(variation),
    quota: needed(quota),
    subevent: needed(subevent),
    budget: needed(budget),
    redeemed: needed(
      integer({
        ...count,
        default: 0,
        description: "How often it was redeemed, as of `as_of`.",
        examples: [0],
      }),
    ),
    budget_used: needed(
      decimal({
        digits: 13,
        places: 2,
        default: "0.00",
        description: "What was used of it, as of `as_of`.",
        examples: ["0.00"],
      }),
    ),
    as_of: needed(
      instant({
        nullable: true,
        description:
          "`redeemed` and `budget_used` contain the orders before this moment; missing: the moment of import.",
      }),
    ),
    created: instant({ nullable: true, description: "Missing: the moment of import." }),
  },
  { required: ["id", "code"] },
);
