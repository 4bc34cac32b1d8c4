import { fields } from "@tessera/kit/fields";
import {
  ApiKeyFields,
  type ApiKeyState,
  DeviceFields,
  type DeviceState,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import { apiKey, device } from "@tessera/resources/credential";
import { fault } from "../faults.ts";
import type { StoredApiKey, StoredDevice } from "../records/credential-fact.ts";
import type { StoredCredential } from "../store/credentials.ts";

const apiKeyFields = fields(apiKey, ApiKeyFields);
const deviceFields = fields(device, DeviceFields);

/** Shows an API key as it is stored. */
export function toApiKeyState({ id, revision, data }: StoredCredential<StoredApiKey>): ApiKeyState {
  return { id, revision, fields: apiKeyFields.toMessage(data) };
}

/** Writes what was sent of an API key as a record's data would say it. */
export function toApiKeyData(sent: ApiKeyFields | undefined) {
  if (sent === undefined) throw new Error("an API key was to be created from nothing");
  return apiKeyFields.present(sent);
}

/** Shows a device as it is stored. */
export function toDeviceState({ revision, data }: StoredCredential<StoredDevice>): DeviceState {
  return { deviceId: data.device_id, revision, fields: deviceFields.toMessage(data) };
}

/** Writes what was sent of a device as a record's data would say it. */
export function toDeviceData(sent: DeviceFields | undefined) {
  if (sent === undefined) throw new Error("a device was to be created from nothing");
  return deviceFields.present(sent);
}

/** Reads the hash of a token. */
export function readTokenHash(bytes: Uint8Array): Buffer {
  if (bytes.length !== 32) throw fault("bad_token_hash", "A token is sent as its SHA-256.");
  return Buffer.from(bytes);
}
