import type { Fault } from "@tessera/kit/fault";
import type { ReserveVouchersRequest, VoucherAsk } from "@tessera/protos/gen/ticketing/voucher/v1/shop";
import { isUuid, parseDecimal } from "@tessera/values";
import { normalizeCode } from "../domain/normalize-code.ts";
import type { Ask } from "../domain/offer-voucher.ts";
import { fault } from "../faults.ts";
import type { EventKey } from "../store/keys.ts";
import type { ReservationKey } from "../store/reservations.ts";
import { fromWireAsk } from "../wire/shop.ts";

/** The limit of a request. */
const mostAsks = 1000;

const limits = { digits: 13, places: 2 };

/** No code of a voucher and no guid of a seat is longer. */
const longest = 255;

/** Reads the asks of a shop; throws everything that is wrong with them, under `<index>.<field>`. */
export function readAsks(place: EventKey, asks: readonly VoucherAsk[]): Ask[] {
  if (asks.length > mostAsks) throw fault("too_many_asks", `Ask for at most ${mostAsks} vouchers at once.`);
  const wrong = asks.flatMap((ask, index) =>
    findProblems(ask).map(([field, message]): [string, string[]] => [`${index}.${field}`, [message]]),
  );
  if (wrong.length > 0)
    throw fault("invalid_asks", "Something is wrong with what was asked.", { fields: Object.fromEntries(wrong) });
  requireSlugs(place);
  return asks.map(({ price, ...ask }) =>
    fromWireAsk({ ...ask, price: price === undefined ? undefined : parseDecimal(price, limits) }),
  );
}

function findProblems({ code, item, variation, subevent, seat = "", price }: VoucherAsk): [string, string][] {
  const problems: [field: string, message: string | undefined][] = [
    ["code", findTextProblem(normalizeCode(code))],
    ["item", findIdProblem(item)],
    ["variation", findIdProblem(variation)],
    ["subevent", findIdProblem(subevent)],
    ["seat", findTextProblem(seat)],
    ["price", price === undefined || isPrice(price) ? undefined : "A price is a decimal from 0 with up to two places."],
  ];
  return problems.flatMap(([field, message]) => (message === undefined ? [] : [[field, message]]));
}

function findTextProblem(text: string): string | undefined {
  if (text.includes("\0")) return "Null characters are not allowed.";
  // A character has at most two UTF-16 code units.
  const isLong = text.length > 2 * longest || [...text].length > longest;
  return isLong ? `Ensure this field has no more than ${longest} characters.` : undefined;
}

/** Above 2^53 one number may stand for several ids. */
function findIdProblem(id = 0): string | undefined {
  return Number.isSafeInteger(id) ? undefined : "This is no id.";
}

function isPrice(text: string): boolean {
  return parseDecimal(text, limits)?.startsWith("-") === false;
}

export function readReservationKey({ organizer, event, reservation }: ReservationKey): ReservationKey {
  if (!isUuid(reservation)) throw invalidReservation("reservation", "A reservation is named by a UUID in lower case.");
  requireSlugs({ organizer, event });
  return { organizer, event, reservation };
}

export function invalidReservation(field: keyof ReserveVouchersRequest, message: string): Fault {
  return fault("invalid_reservation", message, { fields: { [field]: [message] } });
}

function requireSlugs({ organizer, event }: EventKey): void {
  if (`${organizer}${event}`.includes("\0")) throw fault("voucher_event_not_found", "There is no such event here.");
}
