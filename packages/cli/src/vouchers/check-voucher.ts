import { Fault } from "@tessera/kit/fault";
import type { VoucherAnswer, VoucherOffer } from "@tessera/protos/gen/ticketing/voucher/v1/shop";
import { readOptions, requireOption } from "../command/options.ts";
import { printable } from "../command/printable.ts";
import { fault } from "../faults.ts";
import { addressSetting } from "../serve/grpc-addresses.ts";
import { callAsShop } from "./call-as-shop.ts";

const options = {
  organizer: { type: "string", value: "SLUG", help: "the organizer (required)" },
  event: { type: "string", value: "SLUG", help: "the event (required)" },
  item: { type: "string", value: "ID", help: "the product (required)" },
  variation: { type: "string", value: "ID", help: "its variation" },
  date: { type: "string", value: "ID", help: "the date of a series" },
  seat: { type: "string", value: "GUID", help: "the seat" },
  price: { type: "string", value: "AMOUNT", help: "the price without the voucher (default: the listed price)" },
  address: {
    type: "string",
    value: "HOST:PORT",
    help: `where voucher serves gRPC (default ${addressSetting("voucher")})`,
  },
  json: { type: "boolean", help: "prints JSON instead of sentences" },
} as const;

const whereServed =
  "where voucher serves gRPC; started by `GRPC_PORT=50051 npm start -- --transport grpc` it is localhost:50057";

const usage = `tessera voucher check CODE --organizer SLUG --event SLUG --item ID  [OPTIONS]

Says what a code does to the price of a product, and what is left of its voucher, or why it cannot be used. It calls voucher
as a shop does: beyond this machine with GRPC_TLS_CERT, GRPC_TLS_KEY and GRPC_TLS_CA, and a certificate with the name shop.`;

/** Checks one code. */
export async function checkVoucher(args: string[]): Promise<void> {
  const read = readOptions(usage, options, args);
  if (read === undefined) return;
  const { values, names } = read;
  const [code, ...others] = names;
  if (code === undefined) throw fault("missing_option", "name the code to check");
  if (others.length > 0)
    throw fault("unexpected_name", `${others.join(" ")} is not expected here; quote a code with blanks`);
  const address = values.address ?? process.env[addressSetting("voucher")] ?? "";
  if (address === "")
    throw fault("missing_option", `pass --address or set ${addressSetting("voucher")}: ${whereServed}`);
  const ask = {
    code,
    item: readId("item", requireOption("item", values.item)),
    variation: values.variation === undefined ? undefined : readId("variation", values.variation),
    subevent: values.date === undefined ? undefined : readId("date", values.date),
    seat: values.seat,
    price: values.price,
  };
  const [organizer, event] = [requireOption("organizer", values.organizer), requireOption("event", values.event)];
  const { answers } = await callAsShop({ address, environment: process.env }, (shop) =>
    shop.checkVouchers({ organizer, event, asks: [ask] }).catch((error: unknown) => {
      throw nameMistakes(error);
    }),
  );
  const [answer] = answers;
  if (answer?.outcome === undefined) throw new Error("voucher answered nothing to an ask");
  process.stdout.write(
    `${values.json ? JSON.stringify(toJson(answer.outcome)) : describe(printable(code), answer.outcome)}\n`,
  );
}

/** Renames the fields of the only ask to the options of the command. */
function nameMistakes(error: unknown): unknown {
  if (!(error instanceof Fault) || error.fields === undefined) return error;
  const mistakes = Object.entries(error.fields).map(
    ([field, messages]) => `${field.replace(/^0\./, "")}: ${messages.join(" ")}`,
  );
  return fault("bad_ask", mistakes.join("\n"), { cause: error });
}

type Outcome = NonNullable<VoucherAnswer["outcome"]>;

/** The names of the REST API; null is unlimited. */
function toJson(outcome: Outcome): object {
  if (outcome.$case === "refusal") {
    const { reason, sentence } = outcome.value;
    return { refusal: { reason: reason.replace("REFUSAL_REASON_", "").toLowerCase(), sentence } };
  }
  const { voucher, priceBefore, price, discount, usesLeft, budgetLeft, remainingMinimum } = outcome.value;
  return {
    offer: {
      voucher,
      price_before: priceBefore,
      price,
      discount,
      uses_left: usesLeft,
      budget_left: budgetLeft ?? null,
      remaining_minimum: remainingMinimum,
    },
  };
}

function describe(code: string, outcome: Outcome): string {
  if (outcome.$case === "refusal") return `${code} cannot be used. ${outcome.value.sentence}`;
  const { usesLeft, budgetLeft, remainingMinimum } = outcome.value;
  return [
    `${code} ${describePrice(outcome.value)}.`,
    `Uses left: ${usesLeft}.`,
    ...(budgetLeft === undefined ? [] : [`Budget left: ${budgetLeft}.`]),
    ...(remainingMinimum > 1 ? [`At least ${remainingMinimum} positions have to use it together.`] : []),
  ].join("\n");
}

function describePrice({ priceBefore, price }: VoucherOffer): string {
  return price === priceBefore ? `leaves the price at ${price}` : `changes the price from ${priceBefore} to ${price}`;
}

function readId(name: string, text: string): number {
  const id = Number(text);
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(id))
    throw fault("bad_id", `--${name} takes the number of an id`);
  return id;
}
