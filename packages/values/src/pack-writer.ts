import {
  compareHashes,
  entriesAmong,
  hashBytes,
  type PackedPresence,
  type PackedTicket,
  type PackTables,
  packedStatuses,
  packFormat,
} from "./pack.ts";

const mostScans = packFormat.hasEntries - 1;
const mostEntries = 2 ** 32 - 1;

/** Times have 47 bits. */
const lastMoment = 2 ** 47 - 1;

/** Places in most tables have two bytes. */
const mostInTable = 0xff_fe;
const mostInLargeTable = 0xff_ff_fe;

/** Of the tables without what is in them. */
const emptyTables = 120;

type Held = Omit<PackedPresence, "ticket">;

interface Row {
  readonly ticket: PackedTicket;
  readonly presences: readonly Held[];
  /** The first bytes of its hash: to compare one number is faster than to compare bytes. */
  readonly order: number;
}

/** Collects tickets for a pack, and knows its size. */
export class PackWriter {
  /** By the first byte of their hashes. */
  readonly #rows: Row[][] = Array.from({ length: 256 }, () => []);
  readonly #ids = new Set<number>();
  /** Main tickets that have not come. */
  readonly #mains = new Set<number>();
  readonly #items = new Table<number>("items");
  readonly #variations = new Table<number>("variations");
  readonly #subevents = new Table<number>("dates");
  readonly #lists = new Table<number>("lists");
  readonly #locales = new Table<string>("locales");
  readonly #validities = new Table<string>("validities", mostInLargeTable);
  readonly #answered = new Table<string>("sets of answers", mostInLargeTable);
  readonly #tables: readonly Pick<Table<never>, "bytes" | "isFull">[] = [
    ...[this.#items, this.#variations, this.#subevents, this.#lists, this.#locales],
    ...[this.#validities, this.#answered],
  ];
  readonly #counts = { tickets: 0, addons: 0, answered: 0, presences: 0 };
  #bytes = packFormat.head + emptyTables;

  /** How many bytes all of it takes at most, without what `parts` adds. */
  get bytes(): number {
    return this.#bytes + this.#tables.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Whether a table may have no room for a further ticket. */
  get isFull(): boolean {
    return this.#tables.some((table) => table.isFull);
  }

  /** Adds a ticket with its presences; throws where a table would have more than places can name. */
  add(ticket: PackedTicket, presences: readonly Held[]): void {
    const { hash, id, item, variation, subevent, locale, addonTo, answered } = ticket;
    this.#items.placeOf(item);
    if (variation !== null) this.#variations.placeOf(variation);
    if (subevent !== null) this.#subevents.placeOf(subevent);
    this.#locales.placeOf(locale);
    this.#validities.placeOf(validityOf(ticket));
    if (answered.length > 0) this.#answered.placeOf(setOf(answered));
    for (const { list } of presences) this.#lists.placeOf(list);
    this.#count(ticket, presences);
    this.#ids.add(id);
    if (this.#mains.delete(id)) this.#bytes -= idBytes(id);
    if (addonTo !== null && !this.#ids.has(addonTo) && !this.#mains.has(addonTo)) {
      this.#mains.add(addonTo);
      this.#bytes += idBytes(addonTo);
    }
    this.#rows[hash[0] ?? 0]?.push({ ticket, presences, order: orderOf(hash) });
  }

  #count({ addonTo, answered }: PackedTicket, presences: readonly Held[]): void {
    this.#counts.tickets += 1;
    this.#counts.presences += presences.length;
    this.#bytes += packFormat.ticket + lengthOf(presences);
    if (addonTo !== null) {
      this.#counts.addons += 1;
      this.#bytes += packFormat.addon;
    }
    if (answered.length > 0) {
      this.#counts.answered += 1;
      this.#bytes += packFormat.answered;
    }
  }

  /** Writes the pack, with everything else as JSON: small parts, one after the other. */
  *parts(info: object): Generator<Uint8Array> {
    yield* this.#head(info);
    const placeOf = new Map<number, number>();
    for (const rows of this.#rows) {
      rows.sort((one, other) => one.order - other.order || compareHashes(one.ticket.hash, other.ticket.hash));
      for (const { ticket } of rows) placeOf.set(ticket.id, placeOf.size);
      const out = new Output(rows.length * packFormat.ticket);
      for (const { ticket } of rows) this.#writeTicket(out, ticket);
      yield out.bytes;
    }
    for (const main of this.#mains) placeOf.set(main, placeOf.size);
    for (const rows of this.#rows) {
      const mains = rows.flatMap(({ ticket: { addonTo } }) => (addonTo === null ? [] : [addonTo]));
      const out = new Output(mains.length * packFormat.addon);
      for (const main of mains) out.put(placeOf.get(main) ?? 0, 4);
      yield out.bytes;
    }
    for (const rows of this.#rows) {
      const sets = rows.flatMap(({ ticket: { answered } }) => (answered.length === 0 ? [] : [setOf(answered)]));
      const out = new Output(sets.length * packFormat.answered);
      for (const set of sets) out.put(this.#answered.placeOf(set), 3);
      yield out.bytes;
    }
    for (const rows of this.#rows) {
      const out = new Output(rows.reduce((sum, { presences }) => sum + lengthOf(presences), 0));
      for (const { ticket, presences } of rows)
        for (const presence of presences) this.#writePresence(out, placeOf.get(ticket.id) ?? 0, presence);
      yield out.bytes;
    }
  }

  *#head(info: object): Generator<Uint8Array> {
    const tables: PackTables = {
      ...{ items: this.#items.all, variations: this.#variations.all, subevents: this.#subevents.all },
      ...{ lists: this.#lists.all, locales: this.#locales.all, mains: [...this.#mains] },
      validities: this.#validities.all.map((pair) => JSON.parse(pair) as [number | null, number | null]),
      answered: this.#answered.all.map((set) => JSON.parse(set) as number[]),
    };
    const json = utf8.encode(JSON.stringify({ ...info, tables }));
    const { tickets, addons, answered, presences } = this.#counts;
    const out = new Output(packFormat.head);
    out.putBytes(packFormat.magic);
    for (const count of [json.length, tickets, addons, answered, presences]) out.put(count, 4);
    yield out.bytes;
    yield json;
  }

  #writeTicket(out: Output, ticket: PackedTicket): void {
    out.putBytes(ticket.hash.subarray(0, hashBytes));
    out.put(ticket.id, 7);
    out.put(this.#items.placeOf(ticket.item), 2);
    out.put(ticket.variation === null ? packFormat.absent : this.#variations.placeOf(ticket.variation), 2);
    out.put(ticket.subevent === null ? packFormat.absent : this.#subevents.placeOf(ticket.subevent), 2);
    out.put(flagsOf(ticket), 2);
    out.put(this.#validities.placeOf(validityOf(ticket)), 3);
    out.put(this.#locales.placeOf(ticket.locale), 2);
  }

  #writePresence(out: Output, place: number, { list, entries, scans }: Held): void {
    const told = scans.slice(0, mostScans);
    const isCounted = entries !== entriesAmong(told);
    out.put(place, 4);
    out.put(this.#lists.placeOf(list), 2);
    out.put(told.length + (isCounted ? packFormat.hasEntries : 0), 1);
    if (isCounted) out.put(Math.min(entries, mostEntries), 4);
    for (const { type, at } of told) {
      const moment = Math.min(Math.max(at, 0), lastMoment);
      out.put(moment * 2 + (type === "exit" ? 1 : 0), 6);
    }
  }
}

/** Distinct values, each with its place. */
class Table<T extends number | string> {
  readonly all: T[] = [];
  readonly #places = new Map<T, number>();
  readonly #name: string;
  readonly #most: number;
  /** As JSON. */
  bytes = 0;

  constructor(name: string, most = mostInTable) {
    [this.#name, this.#most] = [name, most];
  }

  /** One ticket has a few of them. */
  get isFull(): boolean {
    return this.all.length > this.#most / 2;
  }

  placeOf(value: T): number {
    const known = this.#places.get(value);
    if (known !== undefined) return known;
    const place = this.all.length;
    if (place >= this.#most) throw new RangeError(`a pack has room for ${this.#most} ${this.#name}`);
    this.#places.set(value, place);
    this.all.push(value);
    this.bytes += utf8.encode(JSON.stringify(value)).length + 1;
    return place;
  }
}

const utf8 = new TextEncoder();

/** Little-endian numbers, one after the other. */
class Output {
  readonly bytes: Uint8Array;
  #at = 0;

  constructor(length: number) {
    this.bytes = new Uint8Array(length);
  }

  put(value: number, length: number): void {
    let left = value;
    for (let index = 0; index < length; index += 1) {
      this.bytes[this.#at++] = left % 256;
      left = Math.floor(left / 256);
    }
  }

  putBytes(bytes: Uint8Array): void {
    this.bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }
}

function orderOf(hash: Uint8Array): number {
  return hash.subarray(0, 6).reduce((sum, byte) => sum * 256 + byte, 0);
}

function validityOf({ validFrom, validUntil }: PackedTicket): string {
  return JSON.stringify([validFrom, validUntil]);
}

function setOf(questions: readonly number[]): string {
  return JSON.stringify([...questions].sort((one, other) => one - other));
}

/** As JSON, with a comma. */
function idBytes(id: number): number {
  return String(id).length + 1;
}

function lengthOf(presences: readonly Held[]): number {
  return presences.reduce((sum, { entries, scans }) => {
    const told = scans.slice(0, mostScans);
    const counted = entries === entriesAmong(told) ? 0 : packFormat.entries;
    return sum + packFormat.presence + counted + told.length * packFormat.scan;
  }, 0);
}

function flagsOf(ticket: PackedTicket): number {
  const bits = [
    ...[ticket.validIfPending, ticket.requireApproval, ticket.canceled, ticket.blocked, ticket.requireAttention],
    ...[ticket.addonTo !== null, ticket.answered.length > 0],
  ].reduce((sum, isSet, index) => sum + (isSet ? 4 << index : 0), 0);
  return packedStatuses.indexOf(ticket.status) + bits;
}
