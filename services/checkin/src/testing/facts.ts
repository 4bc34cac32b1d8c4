import type {
  BlockedSecretChanged,
  CategoryChanged,
  EarlierCheckin,
  EventChanged,
  ItemChanged,
  PositionChanged,
  QuestionChanged,
  ReusableMediumChanged,
  RevokedSecretChanged,
  SubeventChanged,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { type Order, OrderStatus, type Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { VoucherChanged } from "@tessera/protos/gen/ticketing/voucher/v1/facts";
import { VoucherFields } from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";

/** The default event of all tests. */
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

/** A voucher that was redeemed, unless a test says otherwise. */
export function voucherFact(
  id: number,
  { code = `CODE-${id}`, redeemed = 1, revision = 1 }: { code?: string; redeemed?: number; revision?: number } = {},
): VoucherChanged {
  const zero = VoucherChanged.decode(new Uint8Array());
  const fields = { ...VoucherFields.decode(new Uint8Array()), code };
  return { ...zero, ...place, id, revision, voucher: { id, fields, createdAt: noon, redeemed, budgetUsed: "0.00" } };
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
  return { ...place, id, revision: 1, position, isAddon: false };
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

export function questionFact(id: number, changes: Partial<QuestionChanged> = {}): QuestionChanged {
  const document = Buffer.from(JSON.stringify({ id }));
  return { ...place, id, revision: 1, items: [1], position: id, askDuringCheckin: true, document, ...changes };
}

export function revokedSecretFact(id: number, changes: Partial<RevokedSecretChanged> = {}): RevokedSecretChanged {
  return { ...place, id, revision: 1, secret: `revoked${id}`, position: id, ...changes };
}

export function blockedSecretFact(id: number, changes: Partial<BlockedSecretChanged> = {}): BlockedSecretChanged {
  return { ...place, id, revision: 1, secret: `blocked${id}`, blocked: true, ...changes };
}

export function mediumFact(id: number, changes: Partial<ReusableMediumChanged> = {}): ReusableMediumChanged {
  const { organizer } = place;
  const linkedPositions = [{ event: place.event, id }];
  return {
    organizer,
    id,
    revision: 1,
    type: "nfc_uid",
    identifier: `04${id}`,
    active: true,
    linkedPositions,
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
