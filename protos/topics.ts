import { hash } from "node:crypto";
import {
  BlockedSecretChanged,
  CategoryChanged,
  CredentialChanged,
  EventChanged,
  ItemChanged,
  PositionChanged,
  QuestionChanged,
  ReusableMediumChanged,
  RevokedSecretChanged,
  SubeventChanged,
} from "./gen/ticketing/boxoffice/v1/facts.ts";
import { AnswersGiven, ScanDecided } from "./gen/ticketing/checkin/v1/facts.ts";
import { topic } from "./topic.ts";

/** The key of an entity fact. Slugs hold no slash, so the parts can be told apart again. */
export function entityKey(organizer: string, event: string, id: number | string): string {
  return `${organizer}/${event}/${id}`;
}

/** Reads a key that entityKey made: what a tombstone has left of its entity. */
export function parseEntityKey(key: string): { organizer: string; event: string; id: string } {
  const [organizer = "", event = "", ...id] = key.split("/");
  return { organizer, event, id: id.join("/") };
}

/** Every topic there is. */
export const topics = {
  credentialChanged: topic("boxoffice.credential-changed.v1", CredentialChanged, {
    owner: "boxoffice",
    key: (fact) => entityKey(fact.organizer, "", `${fact.kind}:${fact.id}`),
    partitions: 1,
    retention: { kind: "compacted" },
    personalData: [],
  }),
  eventChanged: topic("boxoffice.event-changed.v1", EventChanged, {
    owner: "boxoffice",
    key: (fact) => entityKey(fact.organizer, fact.event, ""),
    partitions: 4,
    retention: { kind: "compacted" },
    personalData: [],
  }),
  subeventChanged: topic("boxoffice.subevent-changed.v1", SubeventChanged, {
    owner: "boxoffice",
    key: (fact) => entityKey(fact.organizer, fact.event, fact.id),
    partitions: 4,
    retention: { kind: "compacted" },
    personalData: [],
  }),
  categoryChanged: topic("boxoffice.category-changed.v1", CategoryChanged, {
    owner: "boxoffice",
    key: (fact) => entityKey(fact.organizer, fact.event, fact.id),
    partitions: 4,
    retention: { kind: "compacted" },
    personalData: [],
  }),
  itemChanged: topic("boxoffice.item-changed.v1", ItemChanged, {
    owner: "boxoffice",
    key: (fact) => entityKey(fact.organizer, fact.event, fact.id),
    partitions: 4,
    retention: { kind: "compacted" },
    personalData: [],
  }),
  questionChanged: topic("boxoffice.question-changed.v1", QuestionChanged, {
    owner: "boxoffice",
    key: (fact) => entityKey(fact.organizer, fact.event, fact.id),
    partitions: 4,
    retention: { kind: "compacted" },
    personalData: [],
  }),
  positionChanged: topic("boxoffice.position-changed.v1", PositionChanged, {
    owner: "boxoffice",
    key: (fact) => entityKey(fact.organizer, fact.event, fact.position?.id ?? 0),
    partitions: 12,
    retention: { kind: "compacted" },
    personalData: [
      "position.attendee_name",
      "position.attendee_name_parts",
      "position.attendee_email",
      "position.company",
      "position.street",
      "position.zipcode",
      "position.city",
      "position.country",
      "position.state",
      "position.answers",
      "position.order.email",
      "position.order.invoice_name",
    ],
  }),
  revokedSecretChanged: topic("boxoffice.revoked-secret-changed.v1", RevokedSecretChanged, {
    owner: "boxoffice",
    key: (fact) => entityKey(fact.organizer, fact.event, fact.id),
    partitions: 4,
    retention: { kind: "compacted" },
    personalData: [],
  }),
  blockedSecretChanged: topic("boxoffice.blocked-secret-changed.v1", BlockedSecretChanged, {
    owner: "boxoffice",
    key: (fact) => entityKey(fact.organizer, fact.event, fact.id),
    partitions: 4,
    retention: { kind: "compacted" },
    personalData: [],
  }),
  reusableMediumChanged: topic("boxoffice.reusable-medium-changed.v1", ReusableMediumChanged, {
    owner: "boxoffice",
    key: (fact) => entityKey(fact.organizer, "", fact.id),
    partitions: 4,
    retention: { kind: "compacted" },
    personalData: [],
  }),
  scanDecided: topic("checkin.scan-decided.v1", ScanDecided, {
    owner: "checkin",
    key: (fact) => entityKey(fact.organizer, fact.event, fact.position ?? `scan-${fact.scan}`),
    partitions: 12,
    retention: { kind: "days", days: 30 },
    personalData: [],
  }),
  answersGiven: topic("checkin.answers-given.v1", AnswersGiven, {
    owner: "checkin",
    key: (fact) => entityKey(fact.organizer, fact.event, fact.position),
    partitions: 12,
    retention: { kind: "compacted" },
    personalData: ["answers"],
  }),
} as const;

/** The field of `data` that tells records of a kind apart; `id` for all others. */
const recordKeys: Readonly<Record<string, string>> = {
  organizer: "slug",
  sales_channel: "identifier",
  api_key: "token",
  device: "device_id",
  event: "slug",
  order: "code",
};

/** Tells records apart by a hash of what they are about, for a key may be a secret. */
function subjectOf(record: Uint8Array): string {
  try {
    const { kind, organizer, event, data } = JSON.parse(new TextDecoder().decode(record)) as {
      kind: string;
      organizer: unknown;
      event: unknown;
      data: Record<string, unknown>;
    };
    const key = data[recordKeys[kind] ?? "id"];
    return hash("sha256", JSON.stringify([kind, organizer ?? null, event ?? null, key ?? null])).slice(0, 16);
  } catch {
    return "";
  }
}

/**
 * The continuous feed of records: shops publish here, one record in JSON per message, keyed `organizer/event`, so that
 * the records of an event stay in order. It holds what orders hold, and its key names no single order: what is erased
 * later leaves it by time.
 */
export const recordFeed = topic<Uint8Array>(
  "boxoffice.records.v1",
  { encode: (record) => ({ finish: () => record }), decode: (record) => record },
  {
    owner: "outside",
    key: () => "",
    partitions: 12,
    retention: { kind: "days", days: 3 },
    personalData: ["data"],
    fromOutside: { subject: subjectOf },
  },
);

/** Every topic that a broker must have. */
export const catalogue = [...Object.values(topics), recordFeed] as const;
