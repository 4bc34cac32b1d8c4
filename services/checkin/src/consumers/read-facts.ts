import type {
  BlockedSecretChanged,
  EarlierCheckin,
  EventChanged,
  ItemChanged,
  QuestionChanged,
  ReusableMediumChanged,
  RevokedSecretChanged,
  SubeventChanged,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { countedAs } from "../domain/counted-as.ts";
import { toSearchText } from "../domain/search-text.ts";
import type { BlockedSecretCopy } from "../store/blocked-secrets.ts";
import type { EarlierScan } from "../store/earlier-scans.ts";
import type { EventCopy } from "../store/events.ts";
import type { ItemCopy } from "../store/items.ts";
import type { EntityKey } from "../store/keys.ts";
import type { PositionCopy } from "../store/positions.ts";
import type { QuestionCopy } from "../store/questions.ts";
import type { MediumCopy } from "../store/reusable-media.ts";
import type { RevokedSecretCopy } from "../store/revoked-secrets.ts";
import type { SubeventCopy } from "../store/subevents.ts";
import type { PositionFact } from "../wire/position-fact.ts";
import { orderOf, toTicket } from "../wire/positions.ts";

export function toEventCopy(fact: EventChanged): EventCopy {
  const { organizer, event, revision, name, timezone, locale, hasSubevents, ticketDownload } = fact;
  return {
    organizer,
    event,
    revision,
    name,
    timezone,
    locale,
    hasSubevents,
    dateFrom: fact.dateFrom ?? null,
    dateTo: fact.dateTo ?? null,
    dateAdmission: fact.dateAdmission ?? null,
    downloads: ticketDownload ?? { pdfEnabled: false, addons: false, nonAdmission: false, pending: false },
  };
}

export function toSubeventCopy(fact: SubeventChanged): SubeventCopy {
  const { organizer, event, id, revision, name, active } = fact;
  return {
    organizer,
    event,
    id,
    revision,
    name,
    active,
    dateFrom: fact.dateFrom ?? null,
    dateTo: fact.dateTo ?? null,
    dateAdmission: fact.dateAdmission ?? null,
    document: toText(fact.document),
  };
}

export function toItemCopy(fact: ItemChanged): ItemCopy {
  const { organizer, event, id, revision, name, admission, position, checkinAttention } = fact;
  return {
    organizer,
    event,
    id,
    revision,
    name,
    internalName: fact.internalName ?? null,
    admission,
    category: fact.category ?? null,
    position,
    checkinAttention,
    checkinText: fact.checkinText ?? null,
    generateTickets: fact.generateTickets ?? null,
    variations: fact.variations.map((variation) => ({
      id: variation.id,
      value: variation.value,
      position: variation.position,
      checkinAttention: variation.checkinAttention,
      checkinText: variation.checkinText ?? null,
    })),
    document: toText(fact.document),
  };
}

export function toQuestionCopy(fact: QuestionChanged): QuestionCopy {
  const { organizer, event, id, revision, items, position, askDuringCheckin } = fact;
  return { organizer, event, id, revision, items, position, askDuringCheckin, document: toText(fact.document) };
}

/** A document that is missing is an empty one. */
function toText(document: Uint8Array): string {
  return document.length === 0 ? "{}" : utf8.decode(document);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

export function toRevokedSecretCopy(fact: RevokedSecretChanged): RevokedSecretCopy {
  const { organizer, event, id, revision, secret } = fact;
  return { organizer, event, id, revision, secret, position: fact.position ?? null };
}

export function toBlockedSecretCopy(fact: BlockedSecretChanged): BlockedSecretCopy {
  const { organizer, event, id, revision, secret, blocked } = fact;
  return { organizer, event, id, revision, secret, blocked };
}

export function toMediumCopy(fact: ReusableMediumChanged): MediumCopy {
  const { organizer, id, revision, type, identifier, active } = fact;
  const linkedPositions = fact.linkedPositions.map((linked) => ({ event: linked.event, id: linked.id }));
  return { organizer, id, revision, type, identifier, active, expires: fact.expires ?? null, linkedPositions };
}

export function toPositionCopy(fact: PositionFact): PositionCopy {
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
