import type { OrderStatus, ScanType, Ticket } from "@tessera/admission";
import {
  type Order,
  OrderStatus as OrderStatusOnWire,
  Position,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import {
  type Checkin,
  type ListedPosition,
  ScanType as ScanTypeOnWire,
} from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { type DownloadSettings, findDownloads } from "@tessera/values";
import { nameAttendee, type PersonName } from "../domain/attendee.ts";
import type { ItemAtGate } from "../domain/item-at-gate.ts";
import type { PastCheckin } from "../domain/past-scan.ts";

/** Decodes a position as it is sent and stored. */
export function decodePosition(bytes: Uint8Array): Position {
  return Position.decode(bytes);
}

/** Converts a position to the fields that decisions use. */
export function toTicket(position: TicketFields): Ticket {
  const order = orderOf(position);
  return {
    id: position.id,
    item: position.item,
    variation: position.variation ?? null,
    subevent: position.subevent ?? null,
    addonTo: position.addonTo ?? null,
    canceled: position.canceled,
    orderStatus: toOrderStatus(order.status),
    validIfPending: order.validIfPending,
    requireApproval: order.requireApproval,
    blocked: position.blocked.length > 0,
    validFrom: position.validFrom ?? null,
    validUntil: position.validUntil ?? null,
  };
}

/** The fields of a position that a ticket is made of; the others need not be decoded. */
type TicketFields = Pick<
  Position,
  "id" | "item" | "variation" | "subevent" | "addonTo" | "canceled" | "blocked" | "validFrom" | "validUntil"
> & { readonly order: Pick<Order, "status" | "validIfPending" | "requireApproval"> | undefined };

/** Throws for a position without its order. */
export function orderOf<O>(position: { readonly order: O | undefined }): O {
  if (position.order === undefined) throw new Error("a position came without its order");
  return position.order;
}

/** An unknown status, from a newer boxoffice, opens no gate. */
function toOrderStatus(status: OrderStatusOnWire): OrderStatus {
  switch (status) {
    case OrderStatusOnWire.PAID:
      return "paid";
    case OrderStatusOnWire.PENDING:
      return "pending";
    case OrderStatusOnWire.EXPIRED:
      return "expired";
    default:
      return "canceled";
  }
}

/** Reads an order's status from the letter of the API; undefined: no status has this letter. */
export function toOrderStatusOfLetter(letter: string): OrderStatus | undefined {
  return statusByLetter.get(letter);
}

const statusByLetter: ReadonlyMap<string, OrderStatus> = new Map([
  ["n", "pending"],
  ["p", "paid"],
  ["e", "expired"],
  ["c", "canceled"],
]);

export function toScanType(type: ScanTypeOnWire): ScanType {
  return type === ScanTypeOnWire.EXIT ? "exit" : "entry";
}

export function fromScanType(type: ScanType): ScanTypeOnWire {
  return type === "exit" ? ScanTypeOnWire.EXIT : ScanTypeOnWire.ENTRY;
}

/** Presents a position as a check-in list sees it. */
export function toListedPosition(shown: {
  readonly list: number;
  /** With the answers given at gates. */
  readonly position: Position;
  readonly ticket: Ticket;
  /** The base ticket. */
  readonly parent: Position | undefined;
  readonly item: ItemAtGate;
  readonly downloads: DownloadSettings;
  /** Newest first. */
  readonly checkins: readonly PastCheckin[];
}): ListedPosition {
  const { position, parent, item } = shown;
  const order = orderOf(position);
  const attendee = nameAttendee({
    own: attendeeOf(position),
    parent: parent === undefined ? undefined : attendeeOf(parent),
    invoice: order.invoiceName && { name: order.invoiceName.name, parts: order.invoiceName.nameParts },
  });
  return {
    position,
    attendeeName: attendee.name,
    attendeeNameParts: { ...attendee.parts },
    checkins: shown.checkins.map((checkin) => toCheckin(shown.list, checkin)),
    requireAttention: order.checkinAttention || item.attention,
    downloads: [...findDownloads(shown.downloads, shown.ticket, item)],
    addons: [],
  };
}

function attendeeOf(position: Position): PersonName {
  return { name: position.attendeeName, parts: position.attendeeNameParts };
}

export function toCheckin(list: number, checkin: PastCheckin): Checkin {
  return {
    id: checkin.id,
    list,
    at: checkin.at,
    type: fromScanType(checkin.type),
    gate: checkin.gate ?? undefined,
    // Devices known here have one number only.
    device: checkin.device ?? checkin.deviceId ?? undefined,
    deviceId: checkin.deviceId ?? undefined,
    autoCheckedIn: checkin.autoCheckedIn,
  };
}
