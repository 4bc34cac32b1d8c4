import { Fault } from "@tessera/kit/fault";
import type {
  ApiKeyFields,
  ApiKeyState,
  DeviceFields,
  DeviceState,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import type { StoredApiKey, StoredDevice } from "../records/credential-fact.ts";
import type { StoredCredential } from "../store/credentials.ts";

/** Shows an API key as it is stored. */
export function toApiKeyState({ id, revision, data }: StoredCredential<StoredApiKey>): ApiKeyState {
  const { name, permissions, all_events: allEvents, events, active } = data;
  return { id, revision, fields: { name, permissions: [...permissions], allEvents, events: [...events], active } };
}

/** Writes what was sent of an API key as a record's data would say it. */
export function toApiKeyData(fields: ApiKeyFields | undefined): Readonly<Record<string, unknown>> {
  if (fields === undefined) throw new Error("an API key was to be created from nothing");
  const { name, permissions, allEvents, events, active } = fields;
  return { name, permissions, all_events: allEvents, events, active };
}

/** Shows a device as it is stored. */
export function toDeviceState({ revision, data }: StoredCredential<StoredDevice>): DeviceState {
  return {
    deviceId: data.device_id,
    revision,
    fields: {
      name: data.name,
      gate: data.gate ?? undefined,
      securityProfile: data.security_profile,
      softwareBrand: data.software_brand,
      allEvents: data.all_events,
      events: [...data.events],
      revoked: data.revoked,
    },
  };
}

/** Writes what was sent of a device as a record's data would say it. */
export function toDeviceData(fields: DeviceFields | undefined): Readonly<Record<string, unknown>> {
  if (fields === undefined) throw new Error("a device was to be created from nothing");
  return {
    name: fields.name,
    gate: fields.gate ?? null,
    security_profile: fields.securityProfile,
    software_brand: fields.softwareBrand,
    all_events: fields.allEvents,
    events: fields.events,
    revoked: fields.revoked,
  };
}

/** Reads the hash of a token. */
export function readTokenHash(bytes: Uint8Array): Buffer {
  if (bytes.length !== 32) throw new Fault("invalid", "bad_token_hash", "A token is sent as its SHA-256.");
  return Buffer.from(bytes);
}
