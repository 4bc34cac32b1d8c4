import { hash } from "node:crypto";
import * as boxoffice from "./gen/ticketing/boxoffice/v1/facts.ts";
import { AlarmChanged, AnswersGiven, ScanDecided } from "./gen/ticketing/checkin/v1/facts.ts";
import { ShredRequested } from "./gen/ticketing/shredder/v1/facts.ts";
import { VoucherChanged } from "./gen/ticketing/voucher/v1/facts.ts";
import { isRecordKind, recordKinds } from "./record-kinds.ts";
import { type Codec, type Topic, topic } from "./topic.ts";

/** The key of an entity fact. Slugs contain no slash, so the key can be split again. */
export function entityKey(organizer: string, event: string, id: number | string): string {
  return `${organizer}/${event}/${id}`;
}

/** Reads a key that entityKey made. A tombstone consists of a key alone. */
export function parseEntityKey(key: string): { organizer: string; event: string; id: string } {
  const [organizer = "", event = "", ...id] = key.split("/");
  return { organizer, event, id: id.join("/") };
}

/** An entity of an organizer, or of one of its events. */
interface Entity {
  readonly organizer: string;
  readonly event?: string;
  readonly id?: number;
}

type Options<F> = Omit<Parameters<typeof topic<F>>[2], "owner" | "retention" | "personalData"> &
  Partial<Pick<Topic<F>, "personalData">>;

/** A topic of the full states of entities. */
const states = <F>(name: string, codec: Codec<F>, options: Options<F>): Topic<F> =>
  topic(name, codec, { owner: ownerOf(name), retention: { kind: "compacted" }, personalData: {}, ...options });

/** A topic of entities, keyed by the id of the entity within its event. */
const entities = <F extends Entity>(name: string, codec: Codec<F>, options: Partial<Options<F>> = {}): Topic<F> =>
  states(name, codec, {
    key: ({ organizer, event = "", id = "" }) => entityKey(organizer, event, id),
    parseKey: parseEntity,
    partitions: 4,
    ...options,
  });

const ownerOf = (name: string) => name.slice(0, name.indexOf("."));

function parseEntity(key: string) {
  const { organizer, event, id } = parseEntityKey(key);
  return { organizer, event, id: Number(id) };
}

/** Credentials of all kinds share a topic, so the kind is part of their id. */
function parseCredential(key: string) {
  const { organizer, id } = parseEntityKey(key);
  const colon = id.indexOf(":");
  return { organizer, kind: id.slice(0, colon).replace("CREDENTIAL_KIND_", "").toLowerCase(), id: id.slice(colon + 1) };
}

function parseSalesChannel(key: string) {
  const { organizer, id: identifier } = parseEntityKey(key);
  return { organizer, identifier };
}

/** Every topic there is. */
export const topics = {
  blockedSecretChanged: entities("boxoffice.blocked-secret-changed.v1", boxoffice.BlockedSecretChanged),
  categoryChanged: entities("boxoffice.category-changed.v1", boxoffice.CategoryChanged),
  itemChanged: entities("boxoffice.item-changed.v1", boxoffice.ItemChanged),
  questionChanged: entities("boxoffice.question-changed.v1", boxoffice.QuestionChanged),
  quotaChanged: entities("boxoffice.quota-changed.v1", boxoffice.QuotaChanged),
  revokedSecretChanged: entities("boxoffice.revoked-secret-changed.v1", boxoffice.RevokedSecretChanged),
  subeventChanged: entities("boxoffice.subevent-changed.v1", boxoffice.SubeventChanged),
  voucherUseChanged: entities("boxoffice.voucher-use-changed.v1", boxoffice.VoucherUseChanged),
  credentialChanged: states("boxoffice.credential-changed.v1", boxoffice.CredentialChanged, {
    key: (fact) => entityKey(fact.organizer, "", `${fact.kind}:${fact.id}`),
    parseKey: parseCredential,
    partitions: 1,
  }),
  eventChanged: entities("boxoffice.event-changed.v1", boxoffice.EventChanged),
  positionChanged: states("boxoffice.position-changed.v1", boxoffice.PositionChanged, {
    key: (fact) => entityKey(fact.organizer, fact.event, fact.position?.id ?? 0),
    parseKey: parseEntity,
    partitions: 12,
    personalData: {
      attendee_info: [
        "position.attendee_name",
        "position.attendee_name_parts",
        "position.company",
        "position.street",
        "position.zipcode",
        "position.city",
      ],
      order_emails: ["position.attendee_email", "position.order.email"],
      invoice_addresses: ["position.order.invoice_name"],
      question_answers: ["position.answers"],
      kept: ["position.country", "position.state", "position.order.checkin_text"],
    },
  }),
  reusableMediumChanged: entities("boxoffice.reusable-medium-changed.v1", boxoffice.ReusableMediumChanged),
  salesChannelChanged: states("boxoffice.sales-channel-changed.v1", boxoffice.SalesChannelChanged, {
    key: ({ organizer, identifier }) => entityKey(organizer, "", identifier),
    parseKey: parseSalesChannel,
    partitions: 1,
  }),
  scanDecided: topic("checkin.scan-decided.v1", ScanDecided, {
    owner: "checkin",
    key: (fact) => entityKey(fact.organizer, fact.event, fact.position ?? `scan-${fact.scan}`),
    partitions: 12,
    retention: { kind: "days", days: 30 },
    personalData: {},
  }),
  shredRequested: topic("shredder.shred-requested.v1", ShredRequested, {
    owner: "shredder",
    key: ({ organizer, event, case: id }) => entityKey(organizer, event, id),
    partitions: 1,
    retention: { kind: "days", days: 30 },
    personalData: {},
  }),
  answersGiven: states("checkin.answers-given.v1", AnswersGiven, {
    key: (fact) => entityKey(fact.organizer, fact.event, fact.position),
    partitions: 12,
    personalData: { question_answers: ["answers"] },
  }),
  alarmChanged: topic("checkin.alarm-changed.v1", AlarmChanged, {
    owner: "checkin",
    key: ({ organizer, event, id }) => entityKey(organizer, event, id),
    partitions: 1,
    retention: { kind: "days", days: 30 },
    personalData: {},
  }),
  voucherChanged: entities("voucher.voucher-changed.v1", VoucherChanged, {
    personalData: { waiting_list: ["voucher.fields.comment"] },
  }),
} as const;

/** Identifies what a record is about, by a hash, because a key may be a secret. */
function subjectOf(record: Uint8Array): string {
  try {
    const { kind, organizer, event, data } = JSON.parse(new TextDecoder().decode(record)) as {
      kind: string;
      organizer: unknown;
      event: unknown;
      data: Record<string, unknown>;
    };
    const key = data[(isRecordKind(kind) ? recordKinds[kind].key : null) ?? "id"];
    // An id in quotes is the same id.
    const name = typeof key === "number" ? String(key) : (key ?? null);
    return hash("sha256", JSON.stringify([kind, organizer ?? null, event ?? null, name])).slice(0, 16);
  } catch {
    return "";
  }
}

/** Reads which event a record is about, whatever key its message has. */
function placeOf(record: Uint8Array): string | undefined {
  try {
    const { organizer, event } = JSON.parse(new TextDecoder().decode(record)) as { organizer: unknown; event: unknown };
    const within = event ?? "";
    return typeof organizer === "string" && typeof within === "string" ? `${organizer}/${within}` : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The continuous feed of records: shops publish here, one record in JSON per message, keyed `organizer/event`, so that
 * the records of an event stay in order. It contains the personal data of orders. Its key names no single order, so
 * erased data disappears from it only with time. Records that were parked go with the kinds that they may bring.
 */
export const recordFeed = topic<Uint8Array>(
  "boxoffice.records.v1",
  { encode: (record) => ({ finish: () => record }), decode: (record) => record },
  {
    owner: "outside",
    key: () => "",
    partitions: 12,
    retention: { kind: "days", days: 3 },
    personalData: {
      attendee_info: ["data"],
      order_emails: ["data"],
      phone_numbers: ["data"],
      invoice_addresses: ["data"],
      question_answers: ["data"],
      waiting_list: ["data"],
      kept: ["data"],
    },
    fromOutside: { subject: subjectOf, place: placeOf },
  },
);

/** Every topic that a broker must have. */
export const catalogue = [...Object.values(topics), recordFeed] as const;
