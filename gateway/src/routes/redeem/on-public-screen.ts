import type { Order, Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import type { ListedPosition } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";

/**
 * The outcome of a scan as a device in public may show it. What is shown is listed here, field by field, so that a new
 * field of tickets is not shown until it stands here.
 */
export function onPublicScreen({ outcome, list, position, checkinTexts, documents }: ScanOutcome): ScanOutcome {
  const note = position?.position?.order?.checkinText;
  return {
    outcome,
    list,
    position: position && shownOf(position),
    // What is noted at an order is about a person, and for the staff.
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
    // What somebody typed or uploaded may be an address or a number; what was chosen is the organizer's own text.
    answers: answers.filter(({ options }) => options.length > 0),
    order: order && orderOf(order),
  };
}

function orderOf({ code, status, validIfPending, requireApproval, locale, placedAt, checkinAttention }: Order): Order {
  return { code, status, validIfPending, requireApproval, locale, placedAt, checkinAttention };
}
