import { type Consumer, consume, type Fact, newestPerKey } from "@tessera/kit/bus/consume";
import type { Db, Tx } from "@tessera/kit/pg/database";
import { type CredentialChanged, CredentialKind } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { parseEntityKey, topics } from "@tessera/protos/topics";
import { announceChange } from "../access/change-notice.ts";
import * as credentials from "../store/credentials.ts";

/** Keeps our copy of API keys and devices. A fact older than what we hold is ignored, so replays are harmless. */
export function credentialChanged(db: Db): Consumer {
  return consume(topics.credentialChanged, db, takeOver, {
    async sweep(tx, { before }) {
      const removed = await credentials.removeOlder(tx, before);
      await announceChange(tx);
      return removed;
    },
  });
}

async function takeOver(tx: Tx, facts: readonly Fact<CredentialChanged>[]): Promise<void> {
  const newest = newestPerKey(facts);
  const gone = newest.filter((fact) => fact.value === null).flatMap(toKey);
  const states = newest.flatMap((fact) => (fact.value === null ? [] : toState(fact.value)));
  // Removed first: a token may pass from one credential to another.
  if (gone.length > 0) await credentials.remove(tx, gone);
  if (states.length > 0) await credentials.upsertNewer(tx, withOwnTokens(states));
  await announceChange(tx);
}

/** Of states that have one token the newest has it: the others are about to tell that they lost it. */
function withOwnTokens(states: readonly credentials.CredentialState[]): credentials.CredentialState[] {
  const newest = new Map<string, number>();
  for (const { tokenHash, revision } of states) {
    const hash = tokenHash?.toString("hex") ?? "";
    newest.set(hash, Math.max(revision, newest.get(hash) ?? revision));
  }
  return states.map((state) => {
    const hash = state.tokenHash?.toString("hex") ?? "";
    return newest.get(hash) === state.revision ? state : { ...state, tokenHash: null };
  });
}

/** Kinds of a newer boxoffice are none of ours: nothing authenticates as them. */
const kinds: ReadonlyMap<string, credentials.CredentialKind> = new Map([
  [CredentialKind.API_KEY, "api_key"],
  [CredentialKind.DEVICE, "device"],
]);

function toKey(fact: Fact<CredentialChanged>): credentials.CredentialKey[] {
  const { organizer, id: kindAndId } = parseEntityKey(fact.key);
  const colon = kindAndId.indexOf(":");
  const kind = kinds.get(kindAndId.slice(0, colon));
  return kind === undefined ? [] : [{ organizer, kind, id: kindAndId.slice(colon + 1) }];
}

function toState(fact: CredentialChanged): credentials.CredentialState[] {
  const kind = kinds.get(fact.kind);
  if (kind === undefined) return [];
  const { organizer, id, revision, tokenHash, name, permissions, allEvents, events, active, device } = fact;
  return [
    {
      organizer,
      kind,
      id,
      revision,
      tokenHash: tokenHash === undefined ? null : Buffer.from(tokenHash),
      name,
      permissions,
      allEvents,
      events,
      active,
      device:
        device === undefined
          ? null
          : {
              deviceId: device.deviceId,
              gate: device.gate?.id ?? null,
              securityProfile: device.securityProfile,
              softwareBrand: device.softwareBrand,
            },
    },
  ];
}
