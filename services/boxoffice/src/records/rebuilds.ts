import type { Rebuild } from "@tessera/kit/bus/rebuild-topics";
import { topics } from "@tessera/protos/topics";
import { type PlacedCredential, readCredentials, readEvents, readPositions } from "../store/rebuild-reads.ts";
import { kinds } from "./all-kinds.ts";
import type { StoredFields } from "./credential.ts";
import { credentialKinds } from "./credential-kinds.ts";
import { eventFact } from "./event-fact.ts";
import type { EventDocument, EventSettings } from "./event-schema.ts";
import { defaultSettings } from "./event-settings.ts";
import { positionChanged } from "./position-fact.ts";
import { rebuildEntities } from "./rebuild-entities.ts";

const credentials = rebuildEntities({
  topic: topics.credentialChanged,
  table: "credential",
  belongsTo: "organizer",
  read: async (tx, keys) => (await readCredentials<StoredFields>(tx, keys)).map(toFact),
});

function toFact({ gateName, ...credential }: PlacedCredential<StoredFields>) {
  const { kind, data } = credential;
  const gates = new Map(typeof data.gate === "number" && gateName !== null ? [[data.gate, gateName]] : []);
  return credentialKinds[kind].factOf({ ...credential, gates });
}

/** An event's settings may change under the lock of the event alone, which whoever has the organizer's keeps out. */
const events = rebuildEntities({
  topic: topics.eventChanged,
  table: "event",
  belongsTo: "organizer",
  read: async (tx, keys) =>
    (await readEvents<EventDocument, EventSettings>(tx, keys)).map((event) =>
      eventFact(event.organizer, event, defaultSettings.data),
    ),
});

const positions = rebuildEntities({
  topic: positionChanged,
  table: "position",
  belongsTo: "event",
  read: readPositions,
});

/** How each topic of boxoffice is published again. */
export const rebuilds: readonly Rebuild[] = [
  credentials,
  events,
  ...kinds.flatMap(({ rebuild }) => rebuild ?? []),
  positions,
];
