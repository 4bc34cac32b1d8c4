import { type EarlierCheckin, PositionChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import {
  type Answer,
  type InvoiceName,
  type Order,
  OrderStatus,
  type Position,
  type Seat,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import type { CheckinData } from "@tessera/resources/records/order";
import type { SeatData } from "@tessera/resources/records/seat";
import { composeName } from "../domain/compose-name.ts";
import { composeSeatName } from "../domain/compose-seat-name.ts";
import type { AnswerData, OrderData, PositionData } from "../records/order-data.ts";

const statuses = {
  n: OrderStatus.PENDING,
  p: OrderStatus.PAID,
  e: OrderStatus.EXPIRED,
  c: OrderStatus.CANCELED,
} as const;

export function toOrder(data: OrderData): Order {
  return {
    code: data.code,
    status: statuses[data.status],
    validIfPending: data.valid_if_pending,
    requireApproval: data.require_approval,
    locale: data.locale,
    placedAt: data.datetime,
    email: data.email ?? undefined,
    checkinAttention: data.checkin_attention,
    checkinText: data.checkin_text ?? undefined,
    invoiceName: toInvoiceName(data.invoice_address),
  };
}

function toInvoiceName(address: OrderData["invoice_address"]): InvoiceName | undefined {
  if (address === null) return undefined;
  const nameParts = toNameParts(address.name_parts, address.name);
  return { name: address.name || composeName(nameParts), nameParts, company: address.company ?? "" };
}

/** Returns what a position takes of its voucher's budget; nothing if the voucher raised its price. */
export function budgetUseOf({ voucher_budget_use: sent }: Pick<PositionData, "voucher_budget_use">): string | null {
  return sent?.startsWith("-") === true ? "0.00" : sent;
}

/** Writes a position as other services see it. The stored seat counts, not the seat in the order. */
export function toPosition(
  data: PositionData,
  { order, seat }: { readonly order: Order; readonly seat?: SeatData | undefined },
): Position {
  const attendeeNameParts = toNameParts(data.attendee_name_parts, data.attendee_name);
  return {
    id: data.id,
    positionid: data.positionid,
    item: data.item,
    variation: data.variation ?? undefined,
    subevent: data.subevent ?? undefined,
    addonTo: data.addon_to ?? undefined,
    price: data.price,
    attendeeName: data.attendee_name || composeName(attendeeNameParts) || undefined,
    attendeeNameParts,
    attendeeEmail: data.attendee_email ?? undefined,
    company: data.company ?? undefined,
    street: data.street ?? undefined,
    zipcode: data.zipcode ?? undefined,
    city: data.city ?? undefined,
    country: data.country ?? undefined,
    state: data.state ?? undefined,
    voucher: data.voucher ?? undefined,
    voucherBudgetUse: budgetUseOf(data) ?? undefined,
    taxRate: data.tax_rate,
    taxValue: data.tax_value,
    taxRule: data.tax_rule ?? undefined,
    secret: data.secret,
    pseudonymizationId: data.pseudonymization_id,
    seat: seat === undefined ? undefined : toSeat(seat),
    canceled: data.canceled,
    blocked: data.blocked ?? [],
    validFrom: data.valid_from ?? undefined,
    validUntil: data.valid_until ?? undefined,
    answers: (data.answers ?? []).map(toAnswer),
    order,
  };
}

/** The position of a canceled order. It is not canceled itself. */
export function toCanceled(position: Position): Position {
  if (position.order === undefined) throw new Error("a position is stored without its order");
  return { ...position, order: { ...position.order, status: OrderStatus.CANCELED } };
}

/**
 * Sorted by name, so that equal parts have equal bytes. A name without parts is one part: some clients read nothing
 * else.
 */
function toNameParts(
  parts: PositionData["attendee_name_parts"],
  name: string | null | undefined,
): Record<string, string> {
  const present = Object.entries(parts ?? {}).filter((part): part is [string, string] => part[1] !== null);
  if (present.length === 0 && name) return { full_name: name };
  return Object.fromEntries(present.sort(([one], [other]) => (one < other ? -1 : 1)));
}

export function toSeat(data: SeatData): Seat {
  return {
    id: data.id ?? 0,
    name: data.name || composeSeatName(data) || data.seat_guid,
    seatGuid: data.seat_guid,
    zoneName: data.zone_name,
    rowName: data.row_name,
    rowLabel: data.row_label ?? undefined,
    seatNumber: data.seat_number,
    seatLabel: data.seat_label ?? undefined,
  };
}

function toAnswer(data: AnswerData): Answer {
  return {
    question: data.question,
    answer: data.answer,
    questionIdentifier: data.question_identifier,
    options: data.options,
    optionIdentifiers: data.option_identifiers,
    file: data.isFile,
  };
}

/** Encodes scans made elsewhere, for storing; null: no scans. */
export function encodeEarlierCheckins(checkins: readonly CheckinData[] | null): Uint8Array | null {
  if (checkins === null || checkins.length === 0) return null;
  return encodeAlone(checkins.map(toEarlierCheckin));
}

/** Joins stored and sent scans, both encoded, by id: a sender may leave out scans that it has sent before. */
export function joinEarlierCheckins(stored: Uint8Array, sent: Uint8Array): Uint8Array {
  const all = [stored, sent].flatMap((bytes) => PositionChanged.decode(bytes).earlierCheckins);
  return encodeAlone([...new Map(all.map((checkin) => [checkin.id, checkin])).values()]);
}

function encodeAlone(earlierCheckins: EarlierCheckin[]): Uint8Array {
  return PositionChanged.encode({
    organizer: "",
    event: "",
    revision: 0,
    position: undefined,
    earlierCheckins,
  }).finish();
}

function toEarlierCheckin(data: CheckinData): EarlierCheckin {
  return {
    id: data.id,
    list: data.list,
    exit: data.type === "exit",
    at: data.datetime,
    gate: data.gate ?? undefined,
    device: data.device ?? undefined,
    deviceId: data.device_id ?? undefined,
    autoCheckedIn: data.auto_checked_in,
  };
}
