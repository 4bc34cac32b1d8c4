import type { Rebuild } from "@tessera/kit/bus/rebuild-topics";
import { topics } from "@tessera/protos/topics";
import type { EventDocument, EventSettings } from "@tessera/resources/records/event";
import { kinds } from "../records/all-kinds.ts";
import { credentialKinds } from "../records/credential-kinds.ts";
import { defaultSettings } from "../records/event-settings.ts";
import type { StoredFields } from "../store/credential-rows.ts";
import {
  type PlacedCredential,
  readCredentials,
  readEvents,
  readNamingPositions,
  readPositions,
} from "../store/rebuild-reads.ts";
import { eventFact } from "../wire/event-fact.ts";
import { positionChanged } from "../wire/position-fact.ts";
import { toVoucherUse } from "../wire/voucher-use-fact.ts";
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

/** Settings change under the lock of their event alone, which the exclusive lock of the organizer excludes. */
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

const voucherUses = rebuildEntities({
  topic: topics.voucherUseChanged,
  table: "position",
  belongsTo: "event",
  read: async (tx, keys) => (await readNamingPositions(tx, keys)).flatMap((position) => toVoucherUse(position) ?? []),
});

export const rebuilds: readonly Rebuild[] = [
  credentials,
  events,
  ...kinds.flatMap(({ copied }) => (copied === undefined ? [] : rebuildEntities(copied))),
  positions,
  voucherUses,
];
