import type { Ids, PositionFilters } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import {
  choiceFilter,
  flag,
  flagFilter,
  idFilter,
  idListFilter,
  textFilter,
  type Values,
  wordListFilter,
} from "../../http/parameter.ts";

const among = (what: string) => `Comma-separated; ${what} is one of them.`;

/** Pending, paid, expired, canceled. */
const statuses = ["n", "p", "e", "c"] as const;

export const choosing = {
  ignore_status: flag("Also shows tickets whose order has a status that is not on the list."),
  search: textFilter(
    "In names, e-mail addresses and company; the beginning of secret and order code; a medium that stands for the ticket.",
  ),
  order: textFilter("Only tickets of the order with this code, in any letter case."),
  attendee_name: textFilter("The name of the attendee, or on the ticket it is an add-on of; in any letter case."),
  secret: textFilter("The secret of the ticket."),
  pseudonymization_id: textFilter("The pseudonym of the ticket."),
  item: idFilter("Only tickets of this item."),
  item__in: idListFilter(among("the item")),
  variation: idFilter("Only tickets of this variation."),
  variation__in: idListFilter(among("the variation")),
  subevent: idFilter("Only tickets for this date."),
  subevent__in: idListFilter(among("the date")),
  addon_to: idFilter("Only add-ons of this position."),
  addon_to__in: idListFilter(among("the position it is an add-on of")),
  voucher: idFilter("Only tickets bought with the voucher that has this id."),
  voucher__code: textFilter("Only tickets bought with the voucher that has this code."),
  order__status: choiceFilter("The status of the order: pending, paid, expired, canceled.", statuses),
  order__status__in: wordListFilter(`${among("the status of the order")} Others match nothing.`, statuses),
  has_checkin: flagFilter("Only tickets with a successful scan on this list, or only those without."),
  check_rules: flagFilter(
    "On a list with rules only tickets that these, validity and blocks would admit now, at the gate of this device.",
  ),
} as const;

type Chosen = Values<typeof choosing>;

/** Converts filters for a service; undefined: all tickets are wanted. */
export function toFilters(
  chosen: Chosen,
  { gate }: { readonly gate: number | undefined },
): PositionFilters | undefined {
  const ids = (name: "item" | "variation" | "subevent" | "addon_to"): Ids[] => {
    const one = chosen[name];
    const several = chosen[`${name}__in`];
    return [
      ...(one === undefined ? [] : [{ ids: [one], parameter: name }]),
      ...(several === undefined ? [] : [{ ids: [...several], parameter: `${name}__in` }]),
    ];
  };
  const words = statusesOf(chosen);
  const filters: PositionFilters = {
    attendeeName: chosen.attendee_name,
    secret: chosen.secret,
    pseudonymizationId: chosen.pseudonymization_id,
    voucherCode: chosen.voucher__code,
    voucher: chosen.voucher,
    items: ids("item"),
    variations: ids("variation"),
    subevents: ids("subevent"),
    addonTo: ids("addon_to"),
    orderStatuses: words === undefined ? undefined : { words },
    hasCheckin: chosen.has_checkin,
    ...(chosen.check_rules === true ? { admissibleNow: true, gate } : {}),
  };
  const isEmpty = Object.values(filters).every(
    (value) => value === undefined || (Array.isArray(value) && value.length === 0),
  );
  return isEmpty ? undefined : filters;
}

/** If both parameters were sent, both must hold. */
function statusesOf({ order__status: one, order__status__in: several }: Chosen): string[] | undefined {
  if (several === undefined) return one === undefined ? undefined : [one];
  return several.filter((status) => one === undefined || status === one);
}
