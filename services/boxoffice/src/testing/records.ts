import type { Record as SentRecord } from "@tessera/protos/gen/ticketing/records/v1/records";
import { isAddressedByEvent, isRecordKind } from "@tessera/protos/record-kinds";

/** A record as a test writes it; `data` is an object, or deliberately invalid JSON. */
export interface TestRecord {
  readonly kind: string;
  readonly organizer?: string;
  readonly event?: string;
  readonly deleted?: boolean;
  readonly data: unknown;
}

/** Makes a record of organizer `org` and, if its kind belongs to one, of event `fest`. */
export function record(kind: string, data: unknown, rest: Omit<TestRecord, "kind" | "data"> = {}): TestRecord {
  return { kind, data, ...rest };
}

/** Converts records to messages, as lines from 1. */
export function send(records: readonly TestRecord[]): SentRecord[] {
  return records.map(({ kind, organizer = "org", event, deleted = false, data }, index) => ({
    line: index + 1,
    kind,
    organizer,
    event: event ?? (isRecordKind(kind) && isAddressedByEvent(kind) ? "fest" : ""),
    deleted,
    data: Buffer.from(typeof data === "string" ? data : JSON.stringify(data)),
  }));
}

/** Converts one record to its message. */
export function sendOne(record: TestRecord): SentRecord {
  const [sent] = send([record]);
  if (sent === undefined) throw new Error("nothing was sent");
  return sent;
}

type Data = Record<string, unknown>;

/** The minimum of each kind, apart from what the test is about. */
export const sample = {
  organizer: (rest: Data = {}) => record("organizer", { slug: "org", name: "Organizer", ...rest }),
  salesChannel: (rest: Data = {}) => record("sales_channel", { identifier: "api.shop", ...rest }),
  gate: (rest: Data = {}) => record("gate", { id: 1, name: "North", ...rest }),
  apiKey: (rest: Data = {}) => record("api_key", { token: "key-in-clear-text", ...rest }),
  device: (rest: Data = {}) => record("device", { device_id: 1, token: "device-in-clear-text", ...rest }),
  event: (rest: Data = {}) =>
    record("event", { slug: "fest", name: { en: "Festival" }, date_from: "2026-07-01T18:00:00+02:00", ...rest }),
  eventSettings: (rest: Data = {}) => record("event_settings", rest),
  subevent: (rest: Data = {}) =>
    record("subevent", { id: 1, name: { en: "Friday" }, date_from: "2026-07-01T18:00:00Z", ...rest }),
  taxRule: (rest: Data = {}) => record("tax_rule", { id: 1, rate: "19.00", ...rest }),
  category: (rest: Data = {}) => record("category", { id: 1, name: { en: "Tickets" }, ...rest }),
  item: (rest: Data = {}) => record("item", { id: 1, name: { en: "Ticket" }, ...rest }),
  quota: (rest: Data = {}) => record("quota", { id: 1, size: 100, items: [1], ...rest }),
  question: (rest: Data = {}) => record("question", { id: 1, question: { en: "Vegetarian?" }, type: "B", ...rest }),
  seat: (rest: Data = {}) => record("seat", { id: 1, seat_guid: "stalls-1-1", ...rest }),
  revokedSecret: (rest: Data = {}) =>
    record("revoked_secret", { id: 1, secret: "revoked", created: "2026-01-01T10:00:00Z", ...rest }),
  blockedSecret: (rest: Data = {}) =>
    record("blocked_secret", { id: 1, secret: "blocked", updated: "2026-01-01T10:00:00Z", ...rest }),
  medium: (rest: Data = {}) => record("reusable_medium", { id: 1, type: "nfc_uid", identifier: "04AB", ...rest }),
  order: (rest: Data = {}) =>
    record("order", { code: "ABCDE", status: "p", datetime: "2026-01-01T10:00:00Z", positions: [position()], ...rest }),
};

export function position(rest: Data = {}): Data {
  return { id: 1, positionid: 1, item: 1, secret: "s3cret-of-the-ticket", ...rest };
}

/** An organizer with an event and one product. */
export const festival = [sample.organizer(), sample.event(), sample.item()];
