import {
  CategoryChanged,
  CredentialChanged,
  EventChanged,
  ItemChanged,
  PositionChanged,
  SubeventChanged,
} from "./gen/ticketing/boxoffice/v1/facts.ts";
import { ScanDecided } from "./gen/ticketing/checkin/v1/facts.ts";
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
  scanDecided: topic("checkin.scan-decided.v1", ScanDecided, {
    owner: "checkin",
    key: (fact) => entityKey(fact.organizer, fact.event, fact.position ?? `scan-${fact.scan}`),
    partitions: 12,
    retention: { kind: "days", days: 30 },
    personalData: [],
  }),
} as const;
