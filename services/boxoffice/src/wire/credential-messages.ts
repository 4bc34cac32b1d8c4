import {
  ApiKeyFields,
  type Credential,
  type CredentialFields,
  DeviceFields,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import { type CredentialChanged, CredentialKind as Published } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { topics } from "@tessera/protos/topics";
import * as resources from "@tessera/resources/credential";
import { fields } from "@tessera/schema/fields";
import type { CredentialKind, StoredCredential, StoredFields } from "../store/credential-rows.ts";

/** The kinds of credentials as messages name them. */
export const publishedKinds = { api_key: Published.API_KEY, device: Published.DEVICE } as const;

const apiKey = fields(resources.apiKey, ApiKeyFields);
const device = fields(resources.device, DeviceFields);

/** The conversions of an API key's fields. */
export const apiKeyFields = {
  toMessage: (data: Parameters<typeof apiKey.toMessage>[0]): CredentialFields => ({ apiKey: apiKey.toMessage(data) }),
  toData: ({ apiKey: message }: CredentialFields) => message && apiKey.present(message),
};

/** The same for a device. */
export const deviceFields = {
  toMessage: (data: Parameters<typeof device.toMessage>[0]): CredentialFields => ({ device: device.toMessage(data) }),
  toData: ({ device: message }: CredentialFields) => message && device.present(message),
};

/** Writes a credential as callers see it. */
export function toCredential({ id, revision }: StoredCredential<StoredFields>, written: CredentialFields): Credential {
  return { id, revision, fields: written };
}

/** A credential with the fields of its facts that only its kind has. */
interface PublishedCredential extends StoredCredential<StoredFields> {
  readonly organizer: string;
  readonly kind: CredentialKind;
  readonly active: boolean;
  readonly ownPart: Pick<CredentialChanged, "permissions" | "device">;
}

/** Writes the published fields of a credential. */
export function credentialFact({
  kind,
  tokenHash,
  data,
  ownPart,
  ...credential
}: PublishedCredential): CredentialChanged {
  return {
    organizer: credential.organizer,
    kind: publishedKinds[kind],
    id: credential.id,
    revision: credential.revision,
    tokenHash: tokenHash ?? undefined,
    name: data.name,
    allEvents: data.all_events,
    events: [...data.events],
    active: credential.active,
    ...ownPart,
  };
}

export function credentialKey(organizer: string, kind: CredentialKind, id: string): string {
  const nothing = { revision: 0, name: "", permissions: [], allEvents: false, events: [], active: false };
  return topics.credentialChanged.key({ organizer, kind: publishedKinds[kind], id, ...nothing });
}
