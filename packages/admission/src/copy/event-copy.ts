import type { Pack, PackedPresence, PackedTicket } from "@tessera/values";
import { parseInstant } from "@tessera/values";
import type { RuledScan } from "../rules/judge-rules.ts";
import type { Ticket } from "../ticket.ts";
import { Coded } from "./coded.ts";
import type { FeedData, FeedLine } from "./feed-line.ts";

/** The keyed hash of a code, as packs and lines have it: 8 bytes. */
export type HashCode = (code: string) => Uint8Array;

/** A ticket as it is in the feed: without its code, and without a name. */
export interface CopiedTicket extends Ticket {
  /** The hash of its code, in hexadecimal. */
  readonly code: string;
  readonly locale: string;
  /** Of its order. */
  readonly requireAttention: boolean;
  /** Ids of the questions that it has answered. */
  readonly answered: readonly number[];
}

/** A successful scan of a ticket on a list. */
export interface CopiedScan extends RuledScan {
  /** Undefined: a pack has neither. */
  readonly device: number | null | undefined;
  readonly gate: number | null | undefined;
}

export interface CopiedPresence {
  readonly entries: number;
  /** Newest first; the newest 100. */
  readonly scans: readonly CopiedScan[];
}

/** A scan of this device that let somebody in or out, and that the feed may not tell yet. */
export interface OwnScan extends RuledScan {
  readonly ticket: number;
  readonly list: number;
  readonly nonce: string;
}

const neverSeen: CopiedPresence = { entries: 0, scans: [] };

type Entities = { readonly [K in "subevent" | "item" | "question" | "list"]: Map<number, FeedData[K]> };

/** All that decides scans of one event: its packs, with what lines of the feed have changed since. */
export class EventCopy {
  readonly slug: string;
  readonly #packs: readonly Pack[];
  readonly #hash: HashCode;
  /** Where the tickets of a pack are, by their ids. */
  readonly #places: readonly ReadonlyMap<number, number>[];
  event: FeedData["event"] | undefined;
  readonly entities: Entities = { subevent: new Map(), item: new Map(), question: new Map(), list: new Map() };
  readonly revoked = new Coded<FeedData["revoked"] & { readonly id: number }>();
  readonly media = new Coded<FeedData["medium"]>();
  readonly #blocked = new Coded<FeedData["blocked"]>();
  /** Tickets that lines tell of, and those that they end: a pack counts for neither. */
  readonly #tickets = new Coded<CopiedTicket>();
  readonly #gone = new Set<number>();
  readonly #presences = new Map<string, CopiedPresence>();
  readonly #texts = new WeakMap<object, string>();

  constructor(packs: readonly Pack[], hash: HashCode) {
    const { event } = packs[0]?.info ?? {};
    this.slug = typeof event === "string" ? event : "";
    this.#packs = packs;
    this.#hash = hash;
    this.#places = packs.map((pack) => {
      const places = new Map<number, number>();
      for (let place = 0; place < pack.size; place += 1) places.set(pack.idAt(place), place);
      return places;
    });
    for (const { info } of packs) for (const line of info["entities"] as readonly FeedLine[]) this.apply(line);
  }

  /** Takes a change. Lines of an entity come in their order, those of different entities in any. */
  apply(line: FeedLine): void {
    const { id } = line;
    switch (line.kind) {
      case "cursor":
        return;
      case "event":
        this.event = line.data;
        return;
      case "ticket":
        if (line.data === undefined) this.#tickets.delete(id);
        else this.#tickets.set(id, toTicket(id, line.data));
        if (line.data === undefined) this.#gone.add(id);
        else this.#gone.delete(id);
        return;
      case "presence":
        this.#presences.set(
          `${id}/${line.list}`,
          line.data === undefined
            ? neverSeen
            : {
                entries: line.data.entries,
                scans: line.data.scans.map((scan) => ({ ...scan, at: toMoment(scan.datetime) })),
              },
        );
        return;
      case "revoked":
        keep(this.revoked, id, line.data && { ...line.data, id });
        return;
      case "blocked":
        keep(this.#blocked, id, line.data);
        return;
      case "medium":
        keep(this.media, id, line.data);
        return;
      default: {
        const kept = this.entities[line.kind] as Map<number, unknown>;
        if (line.data === undefined) kept.delete(id);
        else kept.set(id, line.data);
      }
    }
  }

  /** A question or rules as JSON, written once: rules may have thousands of parts, and every scan asks for them. */
  textOf(document: object): string {
    const text = this.#texts.get(document) ?? JSON.stringify(document);
    this.#texts.set(document, text);
    return text;
  }

  hashOf(code: string): string {
    return toHex(this.#hash(code));
  }

  /** The tickets with a code. */
  ticketsWith(code: string): CopiedTicket[] {
    const hash = this.#hash(code);
    const packed = this.#packs.flatMap((pack) => pack.find(hash).map((place) => toCopied(pack.ticket(place))));
    return [...packed.filter(({ id }) => !this.#isTold(id)), ...this.#tickets.withCode(toHex(hash))].map((ticket) =>
      this.#withBlocked(ticket),
    );
  }

  ticket(id: number): CopiedTicket | undefined {
    const told = this.#tickets.get(id);
    if (told !== undefined) return this.#withBlocked(told);
    if (this.#gone.has(id)) return undefined;
    const [pack, place] = this.#packed(id) ?? [];
    return pack === undefined || place === undefined ? undefined : this.#withBlocked(toCopied(pack.ticket(place)));
  }

  /** The add-ons of a ticket. */
  addonsOf(main: number): CopiedTicket[] {
    const packed = this.#packs.flatMap((pack) => pack.addonsOf(main).map((place) => toCopied(pack.ticket(place))));
    const told = Iterator.from(this.#tickets.all()).filter(({ addonTo }) => addonTo === main);
    return [...packed.filter(({ id }) => !this.#isTold(id)), ...told].map((ticket) => this.#withBlocked(ticket));
  }

  presence(ticket: number, list: number): CopiedPresence {
    const told = this.#presences.get(`${ticket}/${list}`);
    if (told !== undefined) return told;
    const [pack, place] = this.#packed(ticket) ?? [];
    const packed = place === undefined ? undefined : pack?.presencesOf(place).find((each) => each.list === list);
    return packed === undefined ? neverSeen : toPresence(packed);
  }

  #isTold(id: number): boolean {
    return this.#gone.has(id) || this.#tickets.has(id);
  }

  #packed(id: number): readonly [Pack, number] | undefined {
    for (const [index, pack] of this.#packs.entries()) {
      const place = this.#places[index]?.get(id);
      if (place !== undefined) return [pack, place];
    }
    return undefined;
  }

  #withBlocked(ticket: CopiedTicket): CopiedTicket {
    const hasBlockedCode = this.#blocked.withCode(ticket.code).some(({ blocked }) => blocked);
    return hasBlockedCode ? { ...ticket, blocked: true } : ticket;
  }
}

function keep<T extends { readonly code: string }>(kept: Coded<T>, id: number, entity: T | undefined): void {
  if (entity === undefined) kept.delete(id);
  else kept.set(id, entity);
}

/** In microseconds; the feed writes every time as it can be read. */
export function toMoment(text: string): number {
  return parseInstant(text) ?? 0;
}

export function toMomentOrNull(text: string | null): number | null {
  return text === null ? null : toMoment(text);
}

function toTicket(id: number, data: FeedData["ticket"]): CopiedTicket {
  return {
    id,
    code: data.code,
    item: data.item,
    variation: data.variation,
    subevent: data.subevent,
    addonTo: data.addon_to,
    canceled: data.canceled,
    orderStatus: data.order_status,
    validIfPending: data.valid_if_pending,
    requireApproval: data.require_approval,
    blocked: data.blocked,
    validFrom: toMomentOrNull(data.valid_from),
    validUntil: toMomentOrNull(data.valid_until),
    locale: data.locale,
    requireAttention: data.require_attention,
    answered: data.answered,
  };
}

function toCopied({ hash, status, ...ticket }: PackedTicket): CopiedTicket {
  return { ...ticket, code: toHex(hash), orderStatus: status };
}

function toPresence({ entries, scans }: PackedPresence): CopiedPresence {
  return { entries, scans: scans.map(({ type, at }) => ({ type, at: at * 1000, device: undefined, gate: undefined })) };
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
