import type { Order, Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import type { ListedPosition } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";

/** The outcome of a scan for a device in public. An allow list: a new field of tickets is hidden until listed. */
export function onPublicScreen({ outcome, list, position, checkinTexts, documents }: ScanOutcome): ScanOutcome {
  const note = position?.position?.order?.checkinText;
  return {
    outcome,
    list,
    position: position && shownOf(position),
    // Notes on an order are about a person, and for the staff.
    checkinTexts: checkinTexts.filter((text) => text !== note),
    documents,
  };
}

function shownOf({ position, addons, ...listed }: ListedPosition): ListedPosition {
  const { attendeeName, attendeeNameParts, checkins, requireAttention } = listed;
  return {
    attendeeName,
    attendeeNameParts,
    checkins,
    requireAttention,
    downloads: [],
    position: position && ticketOf(position),
    addons: addons.map(shownOf),
  };
}

function ticketOf(position: Position): Position {
  const { id, positionid, item, variation, subevent, addonTo, price, voucher, taxRate, taxValue, taxRule } = position;
  const { pseudonymizationId, seat, canceled, blocked, validFrom, validUntil, answers, order } = position;
  return {
    ...{ id, positionid, item, variation, subevent, addonTo, price, voucher, taxRate, taxValue, taxRule },
    ...{ pseudonymizationId, seat, canceled, blocked, validFrom, validUntil },
    attendeeNameParts: {},
    // Scanners need a text here.
    secret: "",
    // Typed and uploaded answers may be personal; options are the organizer's own texts.
    answers: answers.filter(({ options }) => options.length > 0),
    order: order && orderOf(order),
  };
}

function orderOf({ code, status, validIfPending, requireApproval, locale, placedAt, checkinAttention }: Order): Order {
  return { code, status, validIfPending, requireApproval, locale, placedAt, checkinAttention };
}
