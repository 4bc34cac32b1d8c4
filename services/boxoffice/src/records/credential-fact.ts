import type { TypeOf } from "@tessera/kit/schema";
import { type CredentialChanged, CredentialKind } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { topics } from "@tessera/protos/topics";
import type { apiKey, device } from "@tessera/resources/credential";
import { devicePermissions } from "@tessera/values";
import type * as credentials from "../store/credentials.ts";

/** An API key as it is stored. */
export type StoredApiKey = TypeOf<typeof apiKey>;

/** A device as it is stored. */
export type StoredDevice = TypeOf<typeof device> & { readonly device_id: number };

const kinds = { api_key: CredentialKind.API_KEY, device: CredentialKind.DEVICE } as const;

/** The key of a credential's facts. */
export function credentialKey(organizer: string, kind: credentials.CredentialKind, id: string): string {
  const nothing = { revision: 0, name: "", permissions: [], allEvents: false, events: [], active: false };
  return topics.credentialChanged.key({ organizer, kind: kinds[kind], id, ...nothing });
}

/** Writes what everybody may know of an API key. */
export function apiKeyFact(
  key: credentials.StoredCredential<StoredApiKey> & { readonly organizer: string },
): CredentialChanged {
  return {
    ...commonPart(key),
    kind: CredentialKind.API_KEY,
    permissions: [...key.data.permissions],
    active: key.data.active,
  };
}

/** Writes what everybody may know of a device. */
export function deviceFact(
  stored: credentials.StoredCredential<StoredDevice> & {
    readonly organizer: string;
    /** Names of gates by id, at least of the device's. */
    readonly gates: ReadonlyMap<number, string>;
  },
): CredentialChanged {
  const { data, gates } = stored;
  return {
    ...commonPart(stored),
    kind: CredentialKind.DEVICE,
    permissions: [...devicePermissions],
    active: !data.revoked,
    device: {
      deviceId: data.device_id,
      gate: data.gate === null ? undefined : { id: data.gate, name: gates.get(data.gate) ?? "" },
      securityProfile: data.security_profile,
      softwareBrand: data.software_brand,
    },
  };
}

function commonPart({
  organizer,
  id,
  revision,
  tokenHash,
  data,
}: credentials.StoredCredential<StoredApiKey | StoredDevice> & { readonly organizer: string }) {
  return {
    organizer,
    id,
    revision,
    tokenHash: tokenHash ?? undefined,
    name: data.name,
    allEvents: data.all_events,
    events: [...data.events],
  };
}
