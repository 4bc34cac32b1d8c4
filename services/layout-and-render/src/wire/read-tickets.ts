import type * as sold from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { OrderStatus } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import type { Document, ReadTicketDataResponse } from "@tessera/protos/gen/ticketing/boxoffice/v1/ticket_data";
import { topics } from "@tessera/protos/topics";
import { type DownloadedTicket, type DownloadSettings, findDownloads } from "@tessera/values";
import type { EventData } from "../domain/sample-ticket.ts";
import type {
  Answer,
  Event,
  InvoiceAddress,
  Item,
  Occasion,
  Order,
  Position,
  Question,
  Seat,
  Settings,
  Ticket,
  Variation,
} from "../domain/ticket.ts";
import {
  instantIn,
  listIn,
  localizedIn,
  numberIn,
  objectIn,
  parseDocument,
  textIn,
  textsIn,
  type Value,
} from "./document-fields.ts";

/** Reads tickets without scans, in the order of their references. Each document is parsed once for all tickets. */
export function readTickets(response: ReadTicketDataResponse): Ticket[] {
  const parse = (documents: readonly Document[]) =>
    new Map(documents.map(({ key, json }) => [key, parseDocument(json)]));
  const [orders, subevents, items, categories] = [
    parse(response.orders),
    parse(response.subevents),
    parse(response.items),
    parse(response.categories),
  ];
  const itemsById = new Map([...items].map(([key, item]) => [Number(key), readItem(item, categories)]));
  const dates = new Map([...subevents].map(([key, date]) => [Number(key), readOccasion(date)]));
  const media = new Map(response.media.map(({ position, identifier }) => [position, identifier]));
  const shared = readShared(response);
  const facts = response.positions.map((fact) => topics.positionChanged.decode(fact));
  const positions = new Map(
    facts.flatMap(({ position }) =>
      position === undefined ? [] : [[position.id, { sent: position, read: readPosition(position, itemsById) }]],
    ),
  );
  const addons = Map.groupBy(
    [...positions.values()].filter(({ sent }) => sent.addonTo !== undefined && !sent.canceled),
    ({ sent }) => sent.addonTo,
  );
  const settings = readDownloadSettings(parseDocument(response.settings));
  return response.tickets.flatMap(({ position: id, order: code, salesChannel }) => {
    const position = positions.get(id);
    if (position?.sent.order === undefined) return [];
    const { sent, read } = position;
    const subevent = sent.subevent === undefined ? null : (dates.get(sent.subevent) ?? null);
    return {
      ...shared,
      subevent,
      order: { ...readOrder(position.sent.order, orders.get(code)), salesChannel },
      position: read,
      parent: sent.addonTo === undefined ? null : (positions.get(sent.addonTo)?.read ?? null),
      addons: (addons.get(id) ?? []).map((addon) => addon.read),
      medium: media.get(id) ?? null,
      outputs: findOutputs(sent, position.sent.order, { settings, item: items.get(String(sent.item)) }),
      scans: null,
    };
  });
}

function readShared(response: ReadTicketDataResponse): Pick<Ticket, "organizer" | "event" | "settings" | "questions"> {
  return {
    organizer: textIn(parseDocument(response.organizer), "name"),
    event: readEvent(parseDocument(response.event)),
    settings: readSettings(parseDocument(response.settings)),
    questions: response.questions.map(({ json }) => readQuestion(parseDocument(json))),
  };
}

/** Reads the event of an answer, with date and product of its first ticket. */
export function readEventData(response: ReadTicketDataResponse, [first]: readonly Ticket[]): EventData {
  const settings = parseDocument(response.settings);
  return {
    ...readShared(response),
    subevent: first?.subevent ?? null,
    item: first?.position.item ?? null,
    locale: textIn(settings, "locale") || "en",
    secretLength: numberIn(settings, "ticket_secret_length") ?? 32,
  };
}

function readOccasion(date: Value): Occasion {
  return {
    name: localizedIn(date, "name") ?? {},
    location: localizedIn(date, "location"),
    dateFrom: instantIn(date, "date_from") ?? 0,
    dateTo: instantIn(date, "date_to"),
    dateAdmission: instantIn(date, "date_admission"),
    metaData: textsIn(date, "meta_data"),
    hasSeatingPlan: numberIn(date, "seating_plan") !== null,
  };
}

function readEvent(event: Value): Event {
  return {
    ...readOccasion(event),
    currency: textIn(event, "currency"),
    timezone: textIn(event, "timezone"),
    itemMetaProperties: textsIn(event, "item_meta_properties"),
  };
}

function readSettings(settings: Value): Settings {
  return {
    region: textIn(settings, "region") || null,
    nameScheme: textIn(settings, "name_scheme"),
    showsDateTo: settings["show_date_to"] !== false,
    organizerInfoText: localizedIn(settings, "organizer_info_text"),
    eventInfoText: localizedIn(settings, "event_info_text"),
  };
}

function readDownloadSettings(settings: Value): DownloadSettings {
  return {
    pdfEnabled: settings["ticketoutput_pdf__enabled"] !== false,
    addons: settings["ticket_download_addons"] === true,
    nonAdmission: settings["ticket_download_nonadm"] !== false,
    pending: settings["ticket_download_pending"] === true,
  };
}

function findOutputs(
  { addonTo, blocked }: sold.Position,
  order: sold.Order,
  { settings, item = {} }: { readonly settings: DownloadSettings; readonly item: Value | undefined },
): readonly string[] {
  const ticket = {
    orderStatus: orderStatuses.get(order.status) ?? "canceled",
    validIfPending: order.validIfPending,
    requireApproval: order.requireApproval,
    blocked: blocked.length > 0,
    addonTo: addonTo ?? null,
  };
  const generateTickets = item["generate_tickets"];
  return findDownloads(settings, ticket, {
    admission: item["admission"] === true,
    generateTickets: typeof generateTickets === "boolean" ? generateTickets : null,
  });
}

const orderStatuses: ReadonlyMap<sold.OrderStatus, DownloadedTicket["orderStatus"]> = new Map([
  [OrderStatus.PENDING, "pending"],
  [OrderStatus.PAID, "paid"],
  [OrderStatus.EXPIRED, "expired"],
]);

function readQuestion(question: Value): Question {
  return {
    id: numberIn(question, "id") ?? 0,
    identifier: textIn(question, "identifier"),
    type: textIn(question, "type"),
    options: listIn(question, "options").map((option) => ({
      id: numberIn(option, "id") ?? 0,
      identifier: textIn(option, "identifier"),
      answer: localizedIn(option, "answer") ?? {},
    })),
  };
}

interface SoldItem {
  readonly item: Item;
  readonly variations: ReadonlyMap<number, Variation>;
}

function readItem(item: Value, categories: ReadonlyMap<string, Value>): SoldItem {
  const category = categories.get(String(numberIn(item, "category")));
  return {
    item: {
      ...readOffer(item, "name"),
      category: category === undefined ? null : localizedIn(category, "name"),
      bundles: listIn(item, "bundles").map((bundle) => ({
        item: numberIn(bundle, "bundled_item") ?? 0,
        variation: numberIn(bundle, "bundled_variation"),
        count: numberIn(bundle, "count") ?? 1,
      })),
    },
    variations: new Map(
      listIn(item, "variations")
        .map((variation) => readOffer(variation, "value"))
        .map((variation) => [variation.id, variation]),
    ),
  };
}

function readOffer(offer: Value, name: string): Variation {
  return {
    id: numberIn(offer, "id") ?? 0,
    name: localizedIn(offer, name) ?? {},
    description: localizedIn(offer, "description"),
    metaData: textsIn(offer, "meta_data"),
  };
}

function readOrder(sent: sold.Order, document: Value = {}): Omit<Order, "salesChannel"> {
  const address = objectIn(document, "invoice_address");
  return {
    code: sent.code,
    locale: sent.locale,
    placedAt: sent.placedAt,
    email: sent.email ?? null,
    phone: textIn(document, "phone") || null,
    invoiceAddress: address === null ? null : readInvoiceAddress(address, sent.invoiceName),
  };
}

function readInvoiceAddress(address: Value, name: sold.InvoiceName | undefined): InvoiceAddress {
  return {
    name: name?.name ?? "",
    nameParts: name?.nameParts ?? {},
    company: textIn(address, "company"),
    street: textIn(address, "street"),
    zipcode: textIn(address, "zipcode"),
    city: textIn(address, "city"),
    state: textIn(address, "state"),
    country: textIn(address, "country"),
    customField: textIn(address, "custom_field"),
  };
}

function readPosition(sent: sold.Position, items: ReadonlyMap<number, SoldItem>): Position {
  const { item, variations } = items.get(sent.item) ?? readItem({ id: sent.item }, new Map());
  return {
    id: sent.id,
    positionid: sent.positionid,
    secret: sent.secret,
    pseudonymizationId: sent.pseudonymizationId,
    item,
    variation: sent.variation === undefined ? null : (variations.get(sent.variation) ?? null),
    price: sent.price,
    attendee: {
      name: sent.attendeeName ?? "",
      nameParts: sent.attendeeNameParts,
      email: sent.attendeeEmail ?? "",
      company: sent.company ?? "",
      street: sent.street ?? "",
      zipcode: sent.zipcode ?? "",
      city: sent.city ?? "",
      state: sent.state ?? "",
      country: sent.country ?? "",
    },
    seat: sent.seat === undefined ? null : readSeat(sent.seat),
    validFrom: sent.validFrom ?? null,
    validUntil: sent.validUntil ?? null,
    answers: sent.answers.map(readAnswer),
  };
}

function readSeat(seat: sold.Seat): Seat {
  return {
    name: seat.name,
    zone: seat.zoneName,
    row: seat.rowName,
    rowLabel: seat.rowLabel ?? "",
    number: seat.seatNumber,
    numberLabel: seat.seatLabel ?? "",
  };
}

/** An answer that is a file has the form `file:<type>;<size>;<hash>`. */
function readAnswer({ question, answer, options, optionIdentifiers, file }: sold.Answer): Answer {
  const fileType = file === true ? (/^file:([^;]*)/.exec(answer)?.[1] ?? null) : null;
  return { question, text: answer, chosen: options.length > 0 ? options : optionIdentifiers, fileType };
}
