import {
  ApiKeyFields,
  type Credential,
  type CredentialFields,
  DeviceFields,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import { CredentialKind as Published } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { apiKey, device, type sentDevice } from "@tessera/resources/credential";
import { fields } from "@tessera/schema/fields";
import type { TypeOf } from "@tessera/schema/schema";
import { formatInstant } from "@tessera/values";
import { shortenId } from "../../access/shorten-id.ts";
import { invalid } from "../../http/answers.ts";
import type { Body, Incoming, Route } from "../../http/route.ts";
import type { CredentialKind } from "../../store/credentials.ts";
import type { DeviceContact } from "../../store/device-contacts.ts";
import { apiKeyExamples, deviceExamples } from "./examples.ts";
import { apiKeyAnswers, apiKeyBody, deviceAnswers, deviceBody } from "./schema.ts";

/** The differences between the routes of API keys and those of devices. */
export interface Kind<B> {
  readonly kind: CredentialKind;
  readonly published: Published;
  /** Its name: in route names, in sentences with its article, and in short. */
  readonly title: string;
  readonly one: string;
  readonly noun: string;
  /** A scanner can set itself up as one. */
  readonly setsUp: boolean;
  readonly body: Body<B>;
  readonly examples: typeof apiKeyExamples | typeof deviceExamples;
  readonly answers: typeof apiKeyAnswers | typeof deviceAnswers;
  readonly revoking: {
    readonly summary: string;
    readonly description: string;
    readonly answers: Route["answers"];
  };
  readonly idIn: (request: Incoming) => string;
  readonly toMessage: (body: B) => CredentialFields;
  readonly present: (credential: Credential) => Readonly<Record<string, unknown>>;
  /** What was heard of it lately; undefined: nothing. */
  readonly presentContact?: (contact: DeviceContact | undefined) => Readonly<Record<string, unknown>>;
}

const keyShapes = fields(apiKey, ApiKeyFields);
const deviceShapes = fields(device, DeviceFields);

function toInstant(at: number | null | undefined): string | null {
  return at === null || at === undefined ? null : formatInstant(at);
}

function required<M>(message: M | undefined): M {
  if (message === undefined) throw new Error("boxoffice answered without the fields of a credential");
  return message;
}

export const apiKeys: Kind<TypeOf<typeof apiKey>> = {
  kind: "api_key",
  published: Published.API_KEY,
  title: "ApiKey",
  one: "an API key",
  noun: "key",
  setsUp: false,
  body: apiKeyBody,
  examples: apiKeyExamples,
  answers: apiKeyAnswers,
  revoking: {
    summary: "Revokes an API key",
    description: "The key is its id, or at least the first 8 characters of it.",
    answers: { invalid },
  },
  idIn: (request) => request.param("key"),
  toMessage: (body) => ({ apiKey: keyShapes.toMessage(body) }),
  present: ({ id, fields: shown }) => ({
    id: shortenId(id),
    ...keyShapes.present(required(shown?.apiKey)),
  }),
};

export const devices: Kind<TypeOf<typeof sentDevice>> = {
  kind: "device",
  published: Published.DEVICE,
  title: "Device",
  one: "a device",
  noun: "device",
  setsUp: true,
  body: deviceBody,
  examples: deviceExamples,
  answers: deviceAnswers,
  revoking: {
    summary: "Revokes the access of a device",
    description: "A scanner that is refused afterwards deletes its data.",
    answers: {},
  },
  idIn: (request) => String(request.id("device")),
  // Null means the same as a missing profile or brand.
  toMessage: ({ security_profile: profile, software_brand: brand, ...body }) => ({
    device: deviceShapes.toMessage({ ...body, security_profile: profile ?? "full", software_brand: brand ?? "" }),
  }),
  present: ({ id, fields: shown }) => ({ device_id: Number(id), ...deviceShapes.present(required(shown?.device)) }),
  presentContact: (contact) => ({
    last_contact: toInstant(contact?.seenAt),
    last_sync: toInstant(contact?.syncedAt),
    queue_length: contact?.queue ?? null,
    battery_level: contact?.battery ?? null,
  }),
};
