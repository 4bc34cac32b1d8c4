import type { CatalogueDocument, QuotaAvailability } from "@tessera/protos/gen/ticketing/boxoffice/v1/catalogue";
import { readJson } from "../../body/read-json.ts";
import type { Shown } from "../../http/without-fields.ts";

function read(document: CatalogueDocument | undefined): Shown {
  if (document === undefined) throw new Error("boxoffice answered without a document");
  return readJson(document.json) as Shown;
}

/** Presents a document as its record sent it. */
export const presentDocument = (document: CatalogueDocument | undefined): Shown => read(document);

/** Presents an event. Scanners need a list of keys also where tickets are not signed. */
export function presentEvent(document: CatalogueDocument | undefined): Shown {
  const event = read(document);
  const keys = event["valid_keys"] as Readonly<Record<string, readonly string[]>> | null | undefined;
  return { ...event, valid_keys: { pretix_sig1: [], ...keys }, best_availability_state: null };
}

/** Presents a date, with its event: lists may have dates of several events. */
export function presentSubevent(document: CatalogueDocument | undefined): Shown {
  return { ...read(document), event: document?.event };
}

interface Item {
  readonly default_price: string;
  readonly all_sales_channels: boolean;
  readonly limit_sales_channels: readonly string[];
  readonly variations: readonly { readonly price: string | null; readonly default_price: string | null }[];
}

/** Presents an item with what follows from its fields. Scanners need the price of each variation. */
export function presentItem(document: CatalogueDocument | undefined): Shown {
  const item = read(document) as Shown & Item;
  return {
    ...item,
    has_variations: item.variations.length > 0,
    variations: item.variations.map((variation) => ({
      ...variation,
      price: variation.price ?? variation.default_price ?? item.default_price,
    })),
    sales_channels: item.all_sales_channels ? ["web"] : item.limit_sales_channels,
  };
}

interface Identified {
  readonly id: number;
  readonly identifier: string | null;
}

/** Presents a question: without other names in its record, question and options are named by their ids. */
export function presentQuestion(document: CatalogueDocument | undefined): Shown {
  const question = read(document);
  const options = question["options"] as readonly Identified[];
  return { ...named(question as unknown as Identified), options: options.map(named) };
}

function named<T extends Identified>(one: T): T {
  return { ...one, identifier: one.identifier ?? String(one.id) };
}

/** Presents a quota, with what is left of it if that was asked for. */
export function presentQuota(document: CatalogueDocument | undefined): Shown {
  const quota = read(document);
  return document?.availability === undefined ? quota : { ...quota, ...presentRest(document.availability) };
}

/** Presents what is left of a quota, and what takes the rest. Carts and waiting lists are in the shop. */
export function presentAvailability(document: CatalogueDocument | undefined): Shown {
  const availability = document?.availability;
  if (availability === undefined) throw new Error("boxoffice answered without what is left of a quota");
  return {
    ...presentRest(availability),
    total_size: read(document)["size"],
    pending_orders: availability.pending,
    paid_orders: availability.paid,
    exited_orders: 0,
    cart_positions: 0,
    blocking_vouchers: availability.byVouchers,
    waiting_list: 0,
  };
}

function presentRest({ isAvailable, left }: QuotaAvailability): Shown {
  return { available: isAvailable, available_number: left ?? null };
}

interface Link {
  readonly id: number;
  readonly event: string | null;
}

/** Presents a medium with the ids of its tickets; of those of the events that the credentials are for; undefined: of all. */
export function presentMedium(document: CatalogueDocument | undefined, events?: ReadonlySet<string>): Shown {
  const medium = read(document);
  const all = medium["linked_orderpositions"] as readonly Link[];
  const links = all.filter(({ event }) => events === undefined || events.has(event ?? "")).map(({ id }) => id);
  return { ...medium, linked_orderposition: links[0] ?? null, linked_orderpositions: links };
}
