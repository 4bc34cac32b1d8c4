import type {
  OrderDocument,
  OrderedPosition,
  OrderPositionDocument,
  Print,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/orders";
import { Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import type { EventSettings } from "@tessera/resources/records/event";
import { type DownloadedTicket, type DownloadSettings, findDownloads } from "@tessera/values";
import type { PositionState, StoredOrder, StoredOrderData, TicketItem } from "../store/order-reads.ts";
import type { StoredPrint } from "../store/stored-prints.ts";
import { encodePosition } from "./position-fact.ts";

/** What orders show beside their documents. */
export interface BesideOrders {
  readonly states: ReadonlyMap<number, PositionState>;
  readonly items: ReadonlyMap<number, TicketItem>;
  readonly prints: ReadonlyMap<number, readonly StoredPrint[]>;
  readonly settings: EventSettings;
}

/** An order with its whole data, which `json` has as text. */
export interface ShownOrder extends StoredOrder {
  readonly json: Uint8Array;
}

export function toOrderDocument({ json, data, changedAt }: ShownOrder, beside: BesideOrders): OrderDocument {
  return {
    json,
    changedAt,
    positions: data.positions.map(({ id }) => toOrderedPosition(id, data, beside)),
  };
}

/** A position alone; undefined: the order is without it. */
export function toPositionDocument(
  id: number,
  { data }: StoredOrder,
  beside: BesideOrders,
): OrderPositionDocument | undefined {
  const own = data.positions.find((position) => position.id === id);
  if (own === undefined) return undefined;
  return { json: Buffer.from(JSON.stringify(own)), position: toOrderedPosition(id, data, beside) };
}

function toOrderedPosition(
  id: number,
  order: StoredOrderData,
  { states, items, prints, settings }: BesideOrders,
): OrderedPosition {
  const stored = states.get(id);
  if (stored === undefined) throw new Error("an order is stored without the row of a position");
  const position = Position.decode(encodePosition(stored));
  return {
    position,
    downloads: [
      ...findDownloads(
        toDownloadSettings(settings),
        toTicket(position, order),
        items.get(position.item) ?? unknownItem,
      ),
    ],
    prints: (prints.get(id) ?? []).map(toPrint),
  };
}

export function toPrint({ deviceId, info, ...print }: StoredPrint): Print {
  return { ...print, deviceId: deviceId ?? undefined, info: Buffer.from(JSON.stringify(info)) };
}

/** An item that is gone counts as admitting. */
const unknownItem = { admission: true, generateTickets: null };

const statuses: Readonly<Record<string, DownloadedTicket["orderStatus"]>> = { n: "pending", p: "paid", e: "expired" };

function toTicket(position: Position, order: StoredOrderData): DownloadedTicket {
  return {
    orderStatus: position.canceled ? "canceled" : (statuses[order.status] ?? "canceled"),
    validIfPending: order.valid_if_pending,
    requireApproval: order.require_approval,
    blocked: position.blocked.length > 0,
    addonTo: position.addonTo ?? null,
  };
}

function toDownloadSettings(settings: EventSettings): DownloadSettings {
  return {
    pdfEnabled: settings.ticketoutput_pdf__enabled,
    addons: settings.ticket_download_addons,
    nonAdmission: settings.ticket_download_nonadm,
    pending: settings.ticket_download_pending,
  };
}
