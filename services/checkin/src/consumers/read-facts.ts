import type { EarlierCheckin } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { countedAs } from "../domain/counted-as.ts";
import { toSearchText } from "../domain/search-text.ts";
import type { EarlierScan } from "../store/earlier-scans.ts";
import type { EntityKey } from "../store/keys.ts";
import type { PositionFact } from "../wire/position-fact.ts";
import { orderOf, toTicket } from "../wire/positions.ts";

/** A position as it is stored. */
export function toPositionCopy(fact: PositionFact) {
  const position = positionOf(fact);
  const order = orderOf(position);
  const ticket = toTicket(position);
  return {
    organizer: fact.organizer,
    event: fact.event,
    revision: fact.revision,
    ...ticket,
    positionid: position.positionid,
    orderCode: order.code,
    variation: position.variation ?? null,
    voucher: position.voucher ?? null,
    secret: position.secret,
    pseudonymizationId: position.pseudonymizationId,
    countedAs: countedAs(ticket),
    attendeeName: position.attendeeName ?? null,
    orderEmail: order.email ?? null,
    orderPlacedAt: order.placedAt,
    searchText: toSearchText([
      position.attendeeName,
      position.attendeeEmail,
      position.company,
      order.invoiceName?.name,
      order.invoiceName?.company,
      order.email,
    ]),
    state: fact.state,
  };
}

/** Which position a fact is about. */
export function ticketKeyOf(fact: PositionFact): EntityKey {
  return { organizer: fact.organizer, event: fact.event, id: positionOf(fact).id };
}

function positionOf(fact: PositionFact) {
  if (fact.position === undefined) throw new Error("a position fact came without its position");
  return fact.position;
}

export function toEarlierScan(fact: PositionFact, checkin: EarlierCheckin): EarlierScan {
  return {
    organizer: fact.organizer,
    event: fact.event,
    list: checkin.list,
    position: positionOf(fact).id,
    importedId: checkin.id,
    type: checkin.exit ? "exit" : "entry",
    at: checkin.at,
    gate: checkin.gate ?? null,
    device: checkin.device ?? null,
    deviceId: checkin.deviceId ?? null,
    autoCheckedIn: checkin.autoCheckedIn,
  };
}
