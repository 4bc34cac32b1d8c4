/**
 * A pack: the tickets of an event in one binary file, for pages and small boxes that decide scans without a network. It has
 * hashes instead of codes. `docs/sync-feed.md` describes the format.
 */
export const packFormat = {
  /** TSP1 */
  magic: Uint8Array.of(0x54, 0x53, 0x50, 0x31),
  /** Of the head, and of each ticket, the main ticket of an add-on, a set of answers, a presence and its scans. */
  ...{ head: 24, ticket: 28, addon: 4, answered: 3, presence: 7, entries: 4, scan: 6 },
  /** Instead of a place in a table: none. */
  absent: 0xff_ff,
  /** Beside the number of scans: the number of entries follows. */
  hasEntries: 0x80,
  isAddon: 0x80,
  hasAnswered: 0x1_00,
} as const;

export const hashBytes = 8;

export const packedStatuses = ["pending", "paid", "expired", "canceled"] as const;

export type PackedStatus = (typeof packedStatuses)[number];

export interface PackedTicket {
  /** The first bytes of the keyed hash of its code. */
  readonly hash: Uint8Array;
  readonly id: number;
  readonly item: number;
  readonly variation: number | null;
  readonly subevent: number | null;
  readonly status: PackedStatus;
  readonly validIfPending: boolean;
  readonly requireApproval: boolean;
  readonly canceled: boolean;
  readonly blocked: boolean;
  readonly requireAttention: boolean;
  /** Microseconds since 1970. */
  readonly validFrom: number | null;
  readonly validUntil: number | null;
  /** Of its order. */
  readonly locale: string;
  /** The ticket that it is an add-on of. */
  readonly addonTo: number | null;
  /** Ids of questions, in ascending order. */
  readonly answered: readonly number[];
}

export interface PackedScan {
  readonly type: "entry" | "exit";
  /** Whole milliseconds since 1970. */
  readonly at: number;
}

/** The newest successful scans of a ticket on a list, newest first. */
export interface PackedPresence {
  readonly ticket: number;
  readonly list: number;
  /** Also those whose scans are not told. */
  readonly entries: number;
  readonly scans: readonly PackedScan[];
}

/** What tickets and presences name by its place in a table. */
export interface PackTables {
  readonly items: readonly number[];
  readonly variations: readonly number[];
  readonly subevents: readonly number[];
  readonly lists: readonly number[];
  readonly locales: readonly string[];
  readonly validities: readonly (readonly [from: number | null, until: number | null])[];
  /** Sets of questions. */
  readonly answered: readonly (readonly number[])[];
  /** Tickets that have add-ons here, and are not here themselves. */
  readonly mains: readonly number[];
}

/** Reads a pack; throws for other bytes. */
export class Pack {
  readonly info: Readonly<Record<string, unknown>>;
  readonly size: number;
  readonly #tables: PackTables;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  /** Where each section begins. */
  readonly #tickets: number;
  readonly #addons: number;
  readonly #answered: number;
  /** Where each presence begins; they are in the order of their tickets. */
  readonly #presences: Uint32Array;
  /** The places of the tickets that those sections are of. */
  readonly #addonPlaces: Uint32Array;
  readonly #answeredPlaces: Uint32Array;
  #addonsByMain: Map<number, number[]> | undefined;

  constructor(bytes: Uint8Array) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes.length < packFormat.head || packFormat.magic.some((byte, at) => bytes[at] !== byte))
      throw new RangeError("these bytes are no pack");
    const counts = [4, 8, 12, 16, 20].map((at) => view.getUint32(at, true));
    const [json = 0, tickets = 0, addons = 0, answered = 0, presences = 0] = counts;
    this.size = tickets;
    this.#tickets = packFormat.head + json;
    this.#addons = this.#tickets + tickets * packFormat.ticket;
    this.#answered = this.#addons + addons * packFormat.addon;
    const scanned = this.#answered + answered * packFormat.answered;
    if (bytes.length < scanned) throw new RangeError("this pack was cut");
    const { tables, ...info } = JSON.parse(
      new TextDecoder().decode(bytes.subarray(packFormat.head, this.#tickets)),
    ) as {
      readonly tables: PackTables;
    };
    [this.info, this.#tables, this.#bytes, this.#view] = [info, tables, bytes, view];
    this.#addonPlaces = this.#placesWith(packFormat.isAddon, addons);
    this.#answeredPlaces = this.#placesWith(packFormat.hasAnswered, answered);
    this.#presences = this.#placesOfPresences(scanned, presences);
  }

  /** The places of the tickets whose code has this hash. */
  find(hash: Uint8Array): number[] {
    const found: number[] = [];
    let place = firstOf(this.size, (at) => compareHashes(this.#hashAt(at), hash) >= 0);
    for (; place < this.size && compareHashes(this.#hashAt(place), hash) === 0; place += 1) found.push(place);
    return found;
  }

  ticket(place: number): PackedTicket {
    const [view, at] = [this.#view, this.#tickets + place * packFormat.ticket];
    const of = <T>(table: readonly T[], offset: number) => table[view.getUint16(at + offset, true)];
    const flags = view.getUint16(at + 21, true);
    const [validFrom = null, validUntil = null] = this.#tables.validities[readPlace(view, at + 23)] ?? [];
    return {
      hash: this.#hashAt(place),
      id: readWide(view, at + 8),
      item: of(this.#tables.items, 15) ?? 0,
      variation: of(this.#tables.variations, 17) ?? null,
      subevent: of(this.#tables.subevents, 19) ?? null,
      status: packedStatuses[flags & 3] ?? "pending",
      validIfPending: (flags & 4) !== 0,
      requireApproval: (flags & 8) !== 0,
      canceled: (flags & 16) !== 0,
      blocked: (flags & 32) !== 0,
      requireAttention: (flags & 64) !== 0,
      ...{ validFrom, validUntil },
      locale: of(this.#tables.locales, 26) ?? "",
      addonTo: (flags & packFormat.isAddon) === 0 ? null : this.#mainOf(place),
      answered: (flags & packFormat.hasAnswered) === 0 ? [] : this.#answeredBy(place),
    };
  }

  /** The places of the add-ons of a ticket, which may be in another pack. */
  addonsOf(main: number): readonly number[] {
    this.#addonsByMain ??= this.#groupAddons();
    return this.#addonsByMain.get(main) ?? [];
  }

  *presences(): Generator<PackedPresence> {
    for (const at of this.#presences) yield this.#presenceAt(at);
  }

  /** The presences of the ticket at a place, on all lists. */
  presencesOf(place: number): PackedPresence[] {
    const ticketOf = (index: number) => this.#view.getUint32(this.#presences[index] ?? 0, true);
    const found: PackedPresence[] = [];
    let index = firstOf(this.#presences.length, (at) => ticketOf(at) >= place);
    for (; index < this.#presences.length && ticketOf(index) === place; index += 1)
      found.push(this.#presenceAt(this.#presences[index] ?? 0));
    return found;
  }

  #presenceAt(from: number): PackedPresence {
    const view = this.#view;
    const ticket = this.idAt(view.getUint32(from, true));
    const list = this.#tables.lists[view.getUint16(from + 4, true)] ?? 0;
    const count = view.getUint8(from + 6);
    let at = from + packFormat.presence;
    const told = count < packFormat.hasEntries ? undefined : view.getUint32(at, true);
    if (told !== undefined) at += packFormat.entries;
    const scans: PackedScan[] = [];
    for (let left = count & ~packFormat.hasEntries; left > 0; left -= 1) {
      const written = view.getUint32(at, true) + view.getUint16(at + 4, true) * 2 ** 32;
      scans.push({ type: written % 2 === 1 ? "exit" : "entry", at: Math.floor(written / 2) });
      at += packFormat.scan;
    }
    return { ticket, list, entries: told ?? entriesAmong(scans), scans };
  }

  #placesOfPresences(from: number, count: number): Uint32Array {
    const places = new Uint32Array(count);
    let at = from;
    for (let index = 0; index < count; index += 1) {
      places[index] = at;
      const scans = this.#view.getUint8(at + 6);
      const counted = scans < packFormat.hasEntries ? 0 : packFormat.entries;
      at += packFormat.presence + counted + (scans & ~packFormat.hasEntries) * packFormat.scan;
    }
    return places;
  }

  #groupAddons(): Map<number, number[]> {
    const groups = new Map<number, number[]>();
    for (const place of this.#addonPlaces) {
      const main = this.#mainOf(place);
      if (main === null) continue;
      const group = groups.get(main);
      if (group === undefined) groups.set(main, [place]);
      else group.push(place);
    }
    return groups;
  }

  #placesWith(flag: number, count: number): Uint32Array {
    const places = new Uint32Array(count);
    let found = 0;
    for (let place = 0; place < this.size && found < count; place += 1)
      if ((this.#view.getUint16(this.#tickets + place * packFormat.ticket + 21, true) & flag) !== 0)
        places[found++] = place;
    return places;
  }

  #mainOf(place: number): number | null {
    const index = firstOf(this.#addonPlaces.length, (at) => (this.#addonPlaces[at] ?? 0) >= place);
    const main = this.#view.getUint32(this.#addons + index * packFormat.addon, true);
    return main < this.size ? this.idAt(main) : (this.#tables.mains[main - this.size] ?? null);
  }

  #answeredBy(place: number): readonly number[] {
    const index = firstOf(this.#answeredPlaces.length, (at) => (this.#answeredPlaces[at] ?? 0) >= place);
    return this.#tables.answered[readPlace(this.#view, this.#answered + index * packFormat.answered)] ?? [];
  }

  /** The id of the ticket at a place. */
  idAt(place: number): number {
    return readWide(this.#view, this.#tickets + place * packFormat.ticket + 8);
  }

  #hashAt(place: number): Uint8Array {
    const at = this.#tickets + place * packFormat.ticket;
    return this.#bytes.subarray(at, at + hashBytes);
  }
}

export function entriesAmong(scans: readonly PackedScan[]): number {
  return scans.reduce((sum, { type }) => sum + (type === "entry" ? 1 : 0), 0);
}

export function compareHashes(one: Uint8Array, other: Uint8Array): number {
  for (let index = 0; index < hashBytes; index += 1) {
    const difference = (one[index] ?? 0) - (other[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The first of so many places that is behind a border, else their number. */
function firstOf(count: number, isBehind: (place: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBehind(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Seven bytes hold every id. */
function readWide(view: DataView, at: number): number {
  return view.getUint32(at, true) + readPlace(view, at + 4) * 2 ** 32;
}

/** Three bytes hold a place in a large table. */
function readPlace(view: DataView, at: number): number {
  return view.getUint16(at, true) + view.getUint8(at + 2) * 2 ** 16;
}
