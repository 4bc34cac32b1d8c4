import { randomBytes } from "node:crypto";
import type { Db } from "@tessera/kit/pg/database";
import { inSlices } from "@tessera/kit/waiting/in-slices";
import { SyncedPosition } from "@tessera/protos/gen/ticketing/checkin/v1/sync";
import { type PackedPresence, type PackedTicket, PackWriter } from "@tessera/values";
import { readMoment } from "../../store/changes.ts";
import { requireEvent } from "../../store/events.ts";
import type { EventKey } from "../../store/keys.ts";
import {
  type GivenRow,
  type PresenceRow,
  type RowOfKind,
  readGivenOfTickets,
  readMediaBehind,
  readPresencesOfFirst,
  readSyncedBehind,
} from "../../store/synced-rows.ts";
import { chainBytes, type PackedKind, type PackPlace, packedKinds, writePackPlace } from "../../wire/pack-place.ts";
import { nameScope, writeCursor } from "../../wire/sync-cursor.ts";
import { answeredBy, type PlainKind, writeMedium, writeSynced } from "../../wire/sync-lines.ts";
import type { CodeHash } from "./code-hashes.ts";
import { mostEntities, mostOf } from "./step-size.ts";
import { mostScans } from "./write-changed.ts";

/** A pack ends behind the entity that exceeds this: one message carries 16 MiB. */
const enoughBytes = 8 * 1024 * 1024;

export interface AskedPack extends EventKey {
  /** Undefined: from the beginning. */
  readonly from: PackPlace | undefined;
  readonly withNames: boolean;
}

/** Makes the pack of an event that begins at a place: as much as fits. */
export async function makePack(db: Db, asked: AskedPack, codes: CodeHash): Promise<Uint8Array> {
  const { organizer, event, from } = asked;
  await requireEvent(db, asked);
  // Before all else: the feed has every later change behind this cursor.
  const { epoch, snapshot: since } = await readMoment(db);
  const scope = nameScope({ organizer, events: [event], hash: codes.hash });
  const place = from ?? { kind: packedKinds[0], after: -1, chain: randomBytes(chainBytes).toString("base64url") };
  const maker = new PackMaker(db, asked, codes);
  const next = await maker.takeFrom(place);
  return maker.write({
    event,
    next: next && writePackPlace(next),
    key: Buffer.from(codes.key).toString("base64"),
    cursor: from === undefined ? writeCursor({ organizer, scope, epoch, since, place: null }) : null,
  });
}

class PackMaker {
  readonly #db: Db;
  readonly #asked: AskedPack;
  readonly #hash: CodeHash["hash"];
  readonly #writer = new PackWriter();
  readonly #entities: unknown[] = [];
  readonly #names: Record<number, readonly [order: string, name: string | null, seat: string | null]> = {};
  readonly #texts: Record<number, string> = {};
  /** Of everything but tickets. */
  #bytes = 0;

  constructor(db: Db, asked: AskedPack, { hash }: CodeHash) {
    [this.#db, this.#asked, this.#hash] = [db, asked, hash];
  }

  /** Takes what comes behind a place; returns where the next pack begins, null: there is nothing more. */
  async takeFrom({ kind: first, after: firstAfter, chain }: PackPlace): Promise<PackPlace | null> {
    for (const kind of packedKinds.slice(packedKinds.indexOf(first))) {
      for (let after: number | null = kind === first ? firstAfter : -1; after !== null; ) {
        if (this.#isFull) return { kind, after, chain };
        after = await this.#take(kind, after);
      }
    }
    return null;
  }

  async write(info: object): Promise<Uint8Array> {
    const { withNames } = this.#asked;
    const named = withNames ? { names: this.#names, texts: this.#texts } : {};
    const parts: Uint8Array[] = [];
    await inSlices(this.#writer.parts({ ...info, entities: this.#entities, ...named }), (part) => parts.push(part));
    return Buffer.concat(parts);
  }

  get #isFull(): boolean {
    return this.#writer.isFull || this.#bytes + this.#writer.bytes > enoughBytes;
  }

  /** Takes the next entities of a kind; returns the last one's id, null: there are no more. */
  #take(kind: PackedKind, after: number): Promise<number | null> {
    if (kind === "ticket") return this.#takeTickets(after);
    return kind === "medium" ? this.#takeMedia(after) : this.#takeEntities(kind, after);
  }

  async #takeEntities<K extends PlainKind>(kind: K, after: number): Promise<number | null> {
    const rows = await readSyncedBehind(this.#db, kind, { ...this.#asked, after, most: mostOf(kind) });
    return this.#takeLines(rows, (row) => writeSynced(kind, row, this.#hash));
  }

  async #takeMedia(after: number): Promise<number | null> {
    const { organizer, event } = this.#asked;
    const rows = await readMediaBehind(this.#db, { organizer, after, most: mostEntities });
    const isAmong = (other: string) => other === event;
    return this.#takeLines(rows, (row) =>
      row.tickets.some((ticket) => isAmong(ticket.event)) ? writeMedium(row, { isAmong, hash: this.#hash }) : undefined,
    );
  }

  async #takeLines<R extends { readonly id: number }>(
    rows: readonly R[],
    write: (row: R) => string | undefined,
  ): Promise<number | null> {
    let last: number | null = null;
    await inSlices(rows, (row) => {
      if (this.#isFull) return;
      last = row.id;
      const line = write(row);
      if (line === undefined) return;
      this.#entities.push(JSON.parse(line));
      this.#bytes += Buffer.byteLength(line);
    });
    return last;
  }

  async #takeTickets(after: number): Promise<number | null> {
    const { organizer } = this.#asked;
    const rows = await readSyncedBehind(this.#db, "ticket", { ...this.#asked, after, most: mostEntities });
    const given = Map.groupBy(
      await readGivenOfTickets(this.#db, { organizer, keys: rows }),
      ({ position }) => position,
    );
    let last: number | null = null;
    for (let left = rows; left.length > 0 && !this.#isFull; ) {
      const { presences, read } = await readPresencesOfFirst(this.#db, { organizer, keys: left, most: mostScans });
      const ofTicket = Map.groupBy(presences, ({ position }) => position);
      await inSlices(left.slice(0, read), (row) => {
        if (this.#isFull) return;
        last = row.id;
        this.#addTicket(row, given.get(row.id) ?? [], ofTicket.get(row.id) ?? []);
      });
      left = left.slice(read);
    }
    return last;
  }

  #addTicket(row: RowOfKind["ticket"], given: readonly GivenRow[], presences: readonly PresenceRow[]): void {
    const position = SyncedPosition.decode(row.state);
    this.#writer.add(
      {
        ...toPacked(row, position),
        hash: this.#hash(row.secret),
        answered: answeredBy(position, given),
      },
      presences.map(toPackedPresence),
    );
    if (!this.#asked.withNames) return;
    this.#names[row.id] = [row.order_code, position.attendeeName ?? null, position.seat?.name ?? null];
    this.#bytes += jsonBytes(row.id, this.#names[row.id]);
    const text = position.order?.checkinText;
    if (!text) return;
    this.#texts[row.id] = text;
    this.#bytes += jsonBytes(row.id, text);
  }
}

/** Of a value under an id: two quotes, a colon and a comma around them. */
function jsonBytes(id: number, value: unknown): number {
  return String(id).length + 4 + Buffer.byteLength(JSON.stringify(value));
}

function toPacked(row: RowOfKind["ticket"], { order }: SyncedPosition): Omit<PackedTicket, "hash" | "answered"> {
  return {
    id: row.id,
    item: row.item,
    variation: row.variation,
    subevent: row.subevent,
    status: row.order_status,
    validIfPending: row.valid_if_pending,
    requireApproval: row.require_approval,
    canceled: row.canceled,
    blocked: row.blocked,
    requireAttention: order?.checkinAttention === true,
    validFrom: row.valid_from,
    validUntil: row.valid_until,
    locale: order?.locale ?? "",
    addonTo: row.addon_to,
  };
}

function toPackedPresence({ list, entries, scans }: PresenceRow): Omit<PackedPresence, "ticket"> {
  return {
    ...{ list, entries },
    scans: (scans ?? []).map(([at, type]) => ({ type, at: Math.floor(at / 1000) })),
  };
}
