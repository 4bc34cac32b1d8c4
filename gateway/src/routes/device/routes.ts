import { hash } from "node:crypto";
import type { Machine, ShownDevice } from "@tessera/protos/gen/ticketing/boxoffice/v1/devices";
import { CredentialKind } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import type { TypeOf } from "@tessera/schema/schema";
import { deviceProfileOf, scanProfiles } from "@tessera/values";
import type { Access } from "../../access/may-use.ts";
import type { Clients } from "../../clients.ts";
import { fault } from "../../faults.ts";
import { conflict, invalid } from "../../http/answers.ts";
import { declare, type Incoming } from "../../http/route.ts";
import type { CredentialRouteDependencies } from "../credentials/routes.ts";
import { deviceRouteExamples as examples } from "./examples.ts";
import {
  deviceShown,
  deviceWithToken,
  emptyBody,
  infoShown,
  initializeBody,
  updateBody,
  versionShown,
} from "./schema.ts";

/** Below 4.12, scanners work with the routes of one check-in list. */
const version = { pretix: "4.11.0", pretix_numeric: 40110001000 };

/** Keys may ask, and are told that they are no devices. */
const access: Access = { kind: "any", profiles: scanProfiles };

/** What a device does with itself: `device/…` and `version`. */
export function deviceRoutes({
  devices,
  credentials,
  makeToken,
  untilCopied,
}: Pick<Clients, "devices" | "credentials"> & Pick<CredentialRouteDependencies, "makeToken" | "untilCopied">) {
  /** Waits until the device can authenticate with what is told. */
  async function settle(device: ShownDevice | undefined, signal: AbortSignal): Promise<void> {
    const { organizer, credential } = device ?? {};
    if (organizer === undefined || credential === undefined) throw new Error("boxoffice answered without the device");
    await untilCopied({ organizer, kind: "device", id: credential.id, revision: credential.revision }, signal);
  }

  return {
    initialize: declare({
      name: "initializeDevice",
      example: examples.initialize,
      summary: "Sets up a scanner with the code of its device",
      description: "The code works once, within a week.",
      access: { kind: "public" },
      body: initializeBody,
      showsSecret: true,
      answers: {
        200: { description: "The device, with its token.", schema: deviceWithToken },
        400: invalid,
        409: conflict,
      },
      async handle({ body, signal }) {
        const token = makeToken();
        const { device } = await devices.initializeDevice({
          setupHash: hashOf(body.token.trim()),
          tokenHash: hashOf(token),
          machine: toMachine(body),
        });
        await settle(device, signal);
        return { status: 200, body: { ...present(device), api_token: token } };
      },
    }),

    update: declare({
      name: "updateDevice",
      example: examples.update,
      summary: "Notes what a scanner runs on by now",
      access,
      body: updateBody,
      answers: { 200: { description: "The device.", schema: deviceShown }, 400: invalid, 409: conflict },
      async handle(request) {
        const id = numberOf(request);
        const { device } = await devices.updateDevice(request.ofTenant({ id, machine: toMachine(request.body) }));
        return { status: 200, body: present(device) };
      },
    }),

    info: declare({
      name: "getDeviceInfo",
      example: examples.info,
      summary: "Shows a scanner its device, and the version that it speaks to",
      access,
      answers: { 200: { description: "The device and this server.", schema: infoShown } },
      async handle(request) {
        const { device } = await devices.getDevice(request.ofTenant({ id: numberOf(request) }), {
          signal: request.signal,
        });
        return { status: 200, body: { device: present(device), server: { version }, medium_key_sets: [] } };
      },
    }),

    roll: declare({
      name: "rollDeviceToken",
      example: examples.roll,
      summary: "Gives a scanner another token, and forgets the former one",
      access,
      body: emptyBody,
      showsSecret: true,
      answers: {
        200: { description: "The device, with its new token.", schema: deviceWithToken },
        400: invalid,
        409: conflict,
      },
      async handle(request) {
        const token = makeToken();
        const id = numberOf(request);
        const { device } = await devices.rollDevice(request.ofTenant({ id, tokenHash: hashOf(token) }));
        await settle(device, request.signal);
        return { status: 200, body: { ...present(device), api_token: token } };
      },
    }),

    revoke: declare({
      name: "revokeOwnDevice",
      example: examples.revoke,
      summary: "Ends the access of the scanner that asks",
      access,
      body: emptyBody,
      answers: {
        200: { description: "The device, which is revoked.", schema: deviceShown },
        400: invalid,
        409: conflict,
      },
      async handle(request) {
        const id = numberOf(request);
        const { device } = await devices.getDevice(request.ofTenant({ id }), { signal: request.signal });
        const { credential } = await credentials.revokeCredential(
          request.ofTenant({ kind: CredentialKind.DEVICE, id }),
        );
        await settle(device && { ...device, credential }, request.signal);
        return { status: 200, body: present(device) };
      },
    }),

    version: declare({
      name: "getVersion",
      example: examples.version,
      summary: "Shows the version of the interface that scanners know",
      access,
      answers: { 200: { description: "The version.", schema: versionShown } },
      handle: async () => ({ status: 200, body: version }),
    }),
  };
}

/** The number of the device that asks. */
function numberOf({ tenant }: Incoming<unknown, unknown>): string {
  if (tenant.kind !== "device") throw fault("forbidden", "These credentials are no device.");
  return tenant.id;
}

const hashOf = (secret: string) => hash("sha256", secret, "buffer");

function toMachine(sent: TypeOf<typeof updateBody.schema>): Machine {
  return {
    hardwareBrand: sent.hardware_brand ?? "",
    hardwareModel: sent.hardware_model ?? "",
    osName: sent.os_name ?? "",
    osVersion: sent.os_version ?? "",
    softwareBrand: sent.software_brand ?? "",
    softwareVersion: sent.software_version ?? "",
  };
}

function present(shown: ShownDevice | undefined) {
  const { organizer, credential, serial, gateName } = shown ?? {};
  const device = credential?.fields?.device;
  if (credential === undefined || device === undefined) throw new Error("boxoffice answered without the device");
  return {
    organizer,
    device_id: Number(credential.id),
    unique_serial: serial,
    name: device.name,
    security_profile: deviceProfileOf(device.securityProfile),
    gate: device.gate === undefined ? null : { id: device.gate, name: gateName ?? "" },
  };
}
