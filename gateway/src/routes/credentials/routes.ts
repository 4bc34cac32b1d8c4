import { hash } from "node:crypto";
import type { Access } from "../../access/may-use.ts";
import { conflict, invalid, notFound } from "../../answers.ts";
import type { Clients } from "../../clients.ts";
import { pageOf, paging, toPage } from "../../paging.ts";
import { declare, type Incoming } from "../../route.ts";
import type { CredentialKey } from "../../store/credentials.ts";
import { apiKeyFields, presentApiKey, presentDevice, toDeviceFields } from "./present.ts";
import {
  apiKeyBody,
  apiKeyCreated,
  apiKeyRevoked,
  apiKeyShown,
  deviceBody,
  deviceCreated,
  deviceRevoked,
  deviceShown,
} from "./schema.ts";

/** A state of a credential that boxoffice has stored. */
export interface StoredState extends CredentialKey {
  readonly revision: number;
}

export interface CredentialRouteDependencies {
  readonly credentials: Clients["credentials"];
  /** Makes a token that nobody has; of a request that is repeated, the one it had. */
  readonly makeToken: () => string;
  /** Waits until gateways authenticate by this state, or a newer one; false when that takes too long. */
  readonly untilCopied: (state: StoredState, signal: AbortSignal) => Promise<boolean>;
}

const access: Access = { kind: "operator" };

const noOrganizer = notFound("There is no such organizer.");

const changes =
  "A key that records bring along is changed there: the newest record counts, whatever happened here before it.";

type Anything = Incoming<unknown, unknown>;

/** What the operator does with API keys and devices: `apikeys/` and `devices/` of an organizer. */
export function credentialRoutes({ credentials, makeToken, untilCopied }: CredentialRouteDependencies) {
  const ofKey = (organizer: string, { id, revision }: { id: string; revision: number }): StoredState => ({
    organizer,
    kind: "api_key",
    id,
    revision,
  });
  const ofDevice = (
    organizer: string,
    { deviceId, revision }: { deviceId: number; revision: number },
  ): StoredState => ({
    organizer,
    kind: "device",
    id: String(deviceId),
    revision,
  });

  const organizerExists = async ({ organizer, signal }: Anything) => {
    await credentials.listApiKeys({ organizer, page: 1, pageSize: 1 }, { signal });
  };

  return {
    listApiKeys: declare({
      name: "listApiKeys",
      summary: "Lists the API keys of an organizer, revoked ones included",
      access,
      query: paging,
      answers: { 200: { description: "One page of keys.", schema: pageOf(apiKeyShown) }, 404: noOrganizer },
      async handle({ organizer, query, signal, url }) {
        const { page, page_size: pageSize } = query;
        const found = await credentials.listApiKeys({ organizer, page, pageSize }, { signal });
        const { count, keys } = found;
        return {
          status: 200,
          body: toPage(url, { count, page: found.page, pageSize, results: keys.map(presentApiKey) }),
        };
      },
    }),

    createApiKey: declare({
      name: "createApiKey",
      summary: "Creates an API key and shows its token, once",
      access,
      body: apiKeyBody,
      showsSecret: true,
      answers: {
        201: { description: "The new key.", schema: apiKeyCreated },
        400: invalid,
        404: noOrganizer,
        409: conflict,
      },
      exists: organizerExists,
      async handle({ organizer, body, signal }) {
        const token = makeToken();
        const tokenHash = hash("sha256", token, "buffer");
        const { key } = await credentials.createApiKey({ organizer, tokenHash, fields: apiKeyFields.toMessage(body) });
        if (key === undefined) throw new Error("boxoffice answered without the key");
        const settled = await untilCopied(ofKey(organizer, key), signal);
        return { status: 201, body: { ...presentApiKey(key), token, settled } };
      },
    }),

    revokeApiKey: declare({
      name: "revokeApiKey",
      summary: "Revokes an API key",
      description: `The key is its id, or at least the first 8 characters of it. ${changes}`,
      access,
      answers: {
        200: { description: "The key, which is revoked.", schema: apiKeyRevoked },
        400: invalid,
        404: notFound("There is no such organizer, or it has no such key."),
        409: conflict,
      },
      async handle(request) {
        const { organizer, signal } = request;
        const { key } = await credentials.revokeApiKey({ organizer, id: request.param("key") });
        if (key === undefined) throw new Error("boxoffice answered without the key");
        const settled = await untilCopied(ofKey(organizer, key), signal);
        return { status: 200, body: { ...presentApiKey(key), settled } };
      },
    }),

    listDevices: declare({
      name: "listDevices",
      summary: "Lists the devices of an organizer, revoked ones included",
      access,
      query: paging,
      answers: { 200: { description: "One page of devices.", schema: pageOf(deviceShown) }, 404: noOrganizer },
      async handle({ organizer, query, signal, url }) {
        const { page, page_size: pageSize } = query;
        const found = await credentials.listDevices({ organizer, page, pageSize }, { signal });
        const { count, devices } = found;
        return {
          status: 200,
          body: toPage(url, { count, page: found.page, pageSize, results: devices.map(presentDevice) }),
        };
      },
    }),

    createDevice: declare({
      name: "createDevice",
      summary: "Creates a device and shows its token, once",
      access,
      body: deviceBody,
      showsSecret: true,
      answers: {
        201: { description: "The new device.", schema: deviceCreated },
        400: invalid,
        404: noOrganizer,
        409: conflict,
      },
      exists: organizerExists,
      async handle({ organizer, body, signal }) {
        const token = makeToken();
        const tokenHash = hash("sha256", token, "buffer");
        const { device } = await credentials.createDevice({ organizer, tokenHash, fields: toDeviceFields(body) });
        if (device === undefined) throw new Error("boxoffice answered without the device");
        const settled = await untilCopied(ofDevice(organizer, device), signal);
        return { status: 201, body: { ...presentDevice(device), token, settled } };
      },
    }),

    revokeDevice: declare({
      name: "revokeDevice",
      summary: "Revokes the access of a device",
      description: `What it is told then makes scanners delete what they hold. ${changes}`,
      access,
      answers: {
        200: { description: "The device, which is revoked.", schema: deviceRevoked },
        404: notFound("There is no such organizer, or it has no such device."),
        409: conflict,
      },
      async handle(request) {
        const { organizer, signal } = request;
        const { device } = await credentials.revokeDevice({ organizer, deviceId: request.id("device") });
        if (device === undefined) throw new Error("boxoffice answered without the device");
        const settled = await untilCopied(ofDevice(organizer, device), signal);
        return { status: 200, body: { ...presentDevice(device), settled } };
      },
    }),
  };
}
