import { setImmediate as nextTurn } from "node:timers/promises";
import type { CallOptions, Client } from "@tessera/kit/rpc";
import type {
  ApplyRecordsRequest,
  ApplyRecordsResponse,
  BroughtEntity,
  Record as WireRecord,
} from "@tessera/protos/gen/ticketing/records/v1/records";
import type { Records } from "@tessera/protos/services";

/** Some hundred bytes each. Beyond this the oldest are forgotten, and references to them count as unknown. */
const mostOfKind = 200_000;

/** No key and no name is longer in JSON. */
const longestName = 2000;

/** Takes a few milliseconds; then the event loop has a turn. */
const scalarsPerTurn = 10_000;

interface Kept {
  readonly entity: BroughtEntity;
  /** The position in the stream. */
  readonly at: number;
}

/** What the records of a merely validated stream would have created so far, since the database has none of it. */
export class BroughtEntities {
  readonly #most: number;
  /** By kind, then by scope and key. */
  readonly #kept = new Map<string, Map<string, Kept>>();
  /** By organizer and name. */
  readonly #named = new Map<string, Set<Kept>>();
  #count = 0;

  constructor({ mostOfKind: most = mostOfKind }: { readonly mostOfKind?: number } = {}) {
    this.#most = most;
  }

  /** Makes the function that validates the batches of an owner in place of applying them. */
  validateBy({ validateRecords }: Pick<Client<Records>, "validateRecords">) {
    return async ({ records }: ApplyRecordsRequest, options?: CallOptions): Promise<ApplyRecordsResponse> => {
      const { outcome, brought } = await validateRecords({ records, before: await this.findFor(records) }, options);
      for (const entity of brought) this.add(entity);
      return outcome ?? { rejected: [] };
    };
  }

  /** Notes what a record would create, in the order of the stream. */
  add(entity: BroughtEntity): void {
    const { kind, organizer, event, key } = entity;
    const ofKind = this.#kept.get(kind) ?? new Map<string, Kept>();
    this.#kept.set(kind, ofKind);
    const place = `${organizer}\0${event}\0${key}`;
    const [oldest] = ofKind;
    if (ofKind.has(place)) this.#forget(ofKind, place);
    else if (oldest !== undefined && ofKind.size >= this.#most) this.#forget(ofKind, oldest[0]);
    const kept = { entity, at: this.#count };
    this.#count += 1;
    ofKind.set(place, kept);
    for (const name of namesOf(entity)) {
      const index = `${organizer}\0${name}`;
      this.#named.set(index, (this.#named.get(index) ?? new Set()).add(kept));
    }
  }

  #forget(ofKind: Map<string, Kept>, place: string): void {
    const kept = ofKind.get(place);
    if (kept === undefined) return;
    ofKind.delete(place);
    for (const name of namesOf(kept.entity)) {
      const index = `${kept.entity.organizer}\0${name}`;
      const others = this.#named.get(index);
      others?.delete(kept);
      if (others?.size === 0) this.#named.delete(index);
    }
  }

  /**
   * Finds a superset of the entities that these records may refer to, in the order of the stream: every entity with a
   * name that occurs in a record of the same event, or, for records of an organizer, in the organizer.
   */
  async findFor(records: readonly WireRecord[]): Promise<BroughtEntity[]> {
    const found = new Set<Kept>();
    let read = 0;
    for (const ofScope of Map.groupBy(records, ({ organizer, event }) => `${organizer}\0${event}`).values()) {
      const [{ organizer, event }] = ofScope as [WireRecord];
      const names = new Set([toName(organizer), toName(event)]);
      for (const { kind, data } of ofScope) {
        names.add(toName(kind));
        for (const value of scalarsIn(data)) {
          names.add(toName(value));
          read += 1;
          if (read % scalarsPerTurn === 0) await nextTurn();
        }
      }
      for (const name of names) {
        for (const kept of this.#named.get(`${organizer}\0${name}`) ?? []) {
          if (event === "" || kept.entity.event === "" || kept.entity.event === event) found.add(kept);
        }
      }
    }
    return [...found].toSorted((one, other) => one.at - other.at).map(({ entity }) => entity);
  }
}

function namesOf({ key, names }: BroughtEntity): ReadonlySet<string> {
  return new Set([key, ...names].map(toName));
}

/** Services compare some names ignoring case and blanks. */
function toName(value: string | number): string {
  return String(value).trim().toUpperCase().normalize("NFC");
}

const quote = 0x22;
const backslash = 0x5c;

/** The numbers and texts in JSON that may be names. Without parsing, which takes long for many values. */
function* scalarsIn(data: Uint8Array): Generator<string | number> {
  const json = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  for (let at = 0; at < json.length; ) {
    const end = json[at] === quote ? endOfText(json, at) : endOfNumber(json, at);
    if (end === at) at += 1;
    else {
      if (end - at <= longestName) yield JSON.parse(json.toString("utf8", at, end)) as string | number;
      at = end;
    }
  }
}

function endOfText(json: Buffer, begin: number): number {
  for (let end = json.indexOf(quote, begin + 1); end !== -1; end = json.indexOf(quote, end + 1)) {
    let escapes = end - 1;
    while (json[escapes] === backslash) escapes -= 1;
    if ((end - escapes) % 2 === 1) return end + 1;
  }
  return json.length;
}

/** A minus may only begin a number; the other characters of numbers follow a digit. */
function endOfNumber(json: Buffer, begin: number): number {
  let end = begin;
  while (end < json.length && "-0123456789.eE+".includes(String.fromCharCode(json[end] ?? 0))) end += 1;
  return /^[-\d]/.test(String.fromCharCode(json[begin] ?? 0)) ? end : begin;
}
