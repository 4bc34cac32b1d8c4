import type { ReadTicketDataResponse } from "@tessera/protos/gen/ticketing/boxoffice/v1/ticket_data";
import type { EventDocument, EventSettings } from "@tessera/resources/records/event";
import type { StoredEvent } from "../store/events.ts";
import type { DocumentKind, NamedDocument } from "../store/ticket-data.ts";
import { settingsOf } from "./event-fact.ts";

export function emptyAnswer(): ReadTicketDataResponse {
  return {
    tickets: [],
    answered: 0,
    positions: [],
    orders: [],
    organizer: Buffer.alloc(0),
    event: Buffer.alloc(0),
    settings: Buffer.alloc(0),
    subevents: [],
    items: [],
    categories: [],
    questions: [],
    media: [],
  };
}

/** Writes what all tickets of an event share. */
export function toEvent(
  event: StoredEvent<EventDocument, EventSettings> & { readonly organizer: object },
  defaults: EventSettings,
): Pick<ReadTicketDataResponse, "organizer" | "event" | "settings"> {
  const settings = settingsOf(event, defaults);
  return {
    organizer: Buffer.from(JSON.stringify(event.organizer)),
    event: Buffer.from(JSON.stringify({ ...event.data, timezone: settings.timezone })),
    settings: Buffer.from(JSON.stringify(settings)),
  };
}

/** The field of the answer for the documents of each kind. */
const places = {
  order: "orders",
  subevent: "subevents",
  item: "items",
  category: "categories",
  question: "questions",
} as const satisfies Record<Exclude<DocumentKind, "medium">, keyof ReadTicketDataResponse>;

export function addDocument(answer: ReadTicketDataResponse, { kind, key, text }: NamedDocument): void {
  if (kind === "medium") answer.media.push({ position: Number(key), identifier: text });
  else answer[places[kind]].push({ key, json: Buffer.from(text) });
}
