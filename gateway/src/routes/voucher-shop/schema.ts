import {
  arrayOf,
  choice,
  constant,
  decimal,
  id,
  instant,
  integer,
  object,
  orPlain,
  plain,
  text,
  uuid,
} from "@tessera/schema/build";
import { record } from "../../http/answers.ts";
import { bodyOf } from "../../http/route.ts";

/** The limit of the service. */
const most = 1000;

/** Twice the size of a thousand asks with all fields, so that the error can say that there are too many. */
const limits = { maxBytes: 512 * 1024 };

const ask = object(
  {
    code: text({
      maxLength: 255,
      examples: ["SUMMER27"],
      description: "What the customer entered, in any letter case.",
    }),
    item: id({ description: "The product." }),
    variation: id({ nullable: true, description: "Of a product that has variations." }),
    subevent: id({ nullable: true, description: "The date, where the event is a series." }),
    seat: text({ nullable: true, maxLength: 255, description: "The `seat_guid` of the seat." }),
    price: decimal({
      ...{ digits: 13, places: 2, negative: false, nullable: true },
      description: "The price without the voucher. Default: the listed one.",
    }),
  },
  { required: ["code", "item"] },
);

const reservation = uuid({ description: "A UUID that the shop draws for the cart." });

export const checkBody = bodyOf(
  {
    title: "VoucherCheck",
    ...object(
      { asks: arrayOf(ask, { maxItems: most, description: "Each is answered as if it were alone." }) },
      { required: ["asks"] },
    ),
  },
  limits,
);

export const reserveBody = bodyOf(
  {
    title: "VoucherReservation",
    ...object(
      {
        reservation,
        uses: arrayOf(ask, { minItems: 1, maxItems: most, description: "One for each position of the cart." }),
        lifetime: plain(["number"], {
          ...{ minimum: 1, maximum: 86_400, examples: [900] },
          description: "How many seconds the cart is held.",
        }),
      },
      { required: ["reservation", "uses", "lifetime"] },
    ),
  },
  limits,
);

export const confirmBody = bodyOf({
  title: "VoucherConfirmation",
  ...object(
    {
      reservation,
      positions: arrayOf(id(), {
        ...{ minItems: 1, maxItems: most },
        description: "The ids of the positions that were sold, in the order of the uses.",
      }),
    },
    { required: ["reservation", "positions"] },
  ),
});

export const releaseBody = bodyOf({
  title: "VoucherRelease",
  ...object({ reservation }, { required: ["reservation"] }),
});

/** In the order in which they are looked for. */
export const refusalReasons = [
  "unknown_code",
  "expired",
  "used_up",
  "reserved",
  "too_many_uses",
  "unknown_product",
  "other_product",
  "unknown_date",
  "other_date",
  "other_seat",
  "seat_of_other_voucher",
  "too_few_uses",
] as const;

const offer = record("VoucherOffer", {
  voucher: id({ description: "Its id, for the record of the order." }),
  price_before: decimal({ description: "The price without the voucher." }),
  price: decimal({ description: "The price with it." }),
  discount: decimal({ description: "By how much the price is lower; zero where it is higher." }),
  uses_left: integer({ description: "With this use; what others hold is left to them." }),
  budget_left: decimal({ nullable: true, description: "With this use; null: unlimited." }),
  remaining_minimum: integer({ description: "So many positions at least have to use the voucher together." }),
});

const refusal = record("VoucherRefusal", {
  reason: choice(refusalReasons, { description: "For programs." }),
  detail: text({ description: "For people." }),
});

const answer = record("VoucherAnswer", {
  offer: orPlain(offer, ["null"]),
  refusal: orPlain(refusal, ["null"]),
});

const answers = arrayOf(answer, { description: "In the order of the request. Each has an offer or a refusal." });

export const checkedShown = record("VouchersChecked", { answers });

export const reservedShown = record("VouchersReserved", {
  status: choice(["reserved", "refused"], { description: "With one refusal nothing is reserved." }),
  expires: instant({ nullable: true, description: "From then on it holds nothing; null: nothing is reserved." }),
  answers,
});

export const confirmedShown = record("VouchersConfirmed", { status: constant("confirmed") });
