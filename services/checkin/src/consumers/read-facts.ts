import type { EarlierCheckin } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { countedAs } from "../domain/counted-as.ts";
import { toSearchText } from "../domain/search-text.ts";
import { toSortName } from "../domain/sort-name.ts";
import type { EarlierScan } from "../store/earlier-scans.ts";
import type { EntityKey } from "../store/keys.ts";
import type { PositionFact } from "../wire/position-fact.ts";
import { orderOf, toTicket } from "../wire/position-messages.ts";

export function toPositionCopy(fact: PositionFact) {
  const position = positionOf(fact);
  const order = orderOf(position);
  const ticket = toTicket(position);
  return {
    ...position,
    ...ticket,
    organizer: fact.organizer,
    event: fact.event,
    revision: fact.revision,
    orderCode: order.code,
    countedAs: countedAs(ticket),
    sortName: toSortName(position.attendeeName),
    orderEmail: order.email,
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

export function ticketKeyOf(fact: PositionFact): EntityKey {
  return { organizer: fact.organizer, event: fact.event, id: positionOf(fact).id };
}

function positionOf(fact: PositionFact) {
  if (fact.position === undefined) throw new Error("a position fact came without its position");
  return fact.position;
}

export function toEarlierScan(fact: PositionFact, checkin: EarlierCheckin): EarlierScan {
  const { id: importedId, exit, ...scan } = checkin;
  const { organizer, event, id: position } = ticketKeyOf(fact);
  return { ...scan, organizer, event, position, importedId, type: exit ? "exit" : "entry" };
}
