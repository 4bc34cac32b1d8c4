import type {
  CategoryChanged,
  EarlierCheckin,
  EventChanged,
  ItemChanged,
  PositionChanged,
  SubeventChanged,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { type Order, OrderStatus, type Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";

/** Where everything in tests happens unless they say otherwise. */
export const place = { organizer: "bigevents", event: "sampleconf" } as const;

/** Noon of 21 November 2026, in microseconds. */
export const noon = Date.UTC(2026, 10, 21, 12) * 1000;
export const minute = 60_000_000;

const nothing = new Uint8Array();

export function eventFact(changes: Partial<EventChanged> = {}): EventChanged {
  return {
    ...place,
    revision: 1,
    name: { en: "Sample Conf", de: "Musterkonferenz" },
    timezone: "Europe/Berlin",
    locale: "en",
    hasSubevents: false,
    dateFrom: noon,
    ticketDownload: { pdfEnabled: true, addons: false, nonAdmission: true, pending: false },
    document: nothing,
    ...changes,
  };
}

export function subeventFact(id: number, changes: Partial<SubeventChanged> = {}): SubeventChanged {
  return {
    ...place,
    id,
    revision: 1,
    name: { en: `Date ${id}` },
    active: true,
    dateFrom: noon,
    document: nothing,
    ...changes,
  };
}

export function categoryFact(id: number, position: number): CategoryChanged {
  return { ...place, id, revision: 1, position };
}

export function itemFact(id: number, changes: Partial<ItemChanged> = {}): ItemChanged {
  return {
    ...place,
    id,
    revision: 1,
    name: { en: `Item ${id}` },
    admission: true,
    position: id,
    checkinAttention: false,
    variations: [],
    document: nothing,
    ...changes,
  };
}

export function order(changes: Partial<Order> = {}): Order {
  return {
    code: "ABC01",
    status: OrderStatus.PAID,
    validIfPending: false,
    requireApproval: false,
    locale: "en",
    placedAt: noon,
    checkinAttention: false,
    ...changes,
  };
}

export function position(id: number, changes: Partial<Position> = {}): Position {
  return {
    id,
    positionid: 1,
    item: 10,
    price: "42.00",
    attendeeName: `Visitor ${id}`,
    attendeeNameParts: { full_name: `Visitor ${id}` },
    taxRate: "19.00",
    taxValue: "6.71",
    secret: `secret${id}`,
    pseudonymizationId: `P${id}`,
    canceled: false,
    blocked: [],
    answers: [],
    order: order(),
    ...changes,
  };
}

export function positionFact(
  id: number,
  changes: Partial<Position> = {},
  { revision = 1, earlierCheckins = [] }: { revision?: number; earlierCheckins?: EarlierCheckin[] } = {},
): PositionChanged {
  return { ...place, revision, position: position(id, changes), earlierCheckins };
}

export function earlierCheckin(id: number, changes: Partial<EarlierCheckin> = {}): EarlierCheckin {
  return { id, list: 1, exit: false, at: noon, autoCheckedIn: false, ...changes };
}
