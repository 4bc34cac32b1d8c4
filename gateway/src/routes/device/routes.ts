import { hash } from "node:crypto";
import type { Machine, ShownDevice } from "@tessera/protos/gen/ticketing/boxoffice/v1/devices";
import { CredentialKind } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import type { TypeOf } from "@tessera/schema/schema";
import { deviceProfileOf, scanProfiles } from "@tessera/values";
import { readAuthorization } from "../../access/authorization.ts";
import type { Access } from "../../access/may-use.ts";
import type { Clients } from "../../clients.ts";
import { fault } from "../../faults.ts";
import { conflict, invalid, notFound } from "../../http/answers.ts";
import { numberFilter, textFilter } from "../../http/parameter.ts";
import { declare, type Incoming } from "../../http/route.ts";
import { amongEventsOf } from "../catalogue/among.ts";
import type { CredentialRouteDependencies } from "../credentials/routes.ts";
import { deviceRouteExamples as examples } from "./examples.ts";
import {
  deviceShown,
  deviceWithToken,
  emptyBody,
  infoShown,
  initializeBody,
  selectionShown,
  updateBody,
  versionShown,
} from "./schema.ts";
import { selectEvent } from "./select-event.ts";

/** From 40120001001 on, scanners name a check-in list by its id alone, in `checkinrpc/`. */
const version = { pretix: "4.12.0", pretix_numeric: 40120001001 };

/** Below that, scanners use the routes of one list. */
const versionOfLists = { pretix: "4.11.0", pretix_numeric: 40110001000 };

/** Keys may ask, and get the answer that they are no devices. */
const access: Access = { kind: "any", profiles: scanProfiles };

/** What a device does with itself: `device/…` and `version`. */
export function deviceRoutes({
  makeToken,
  untilCopied,
  ...clients
}: Pick<Clients, "devices" | "credentials" | "catalogue" | "checkinLists"> &
  Pick<CredentialRouteDependencies, "makeToken" | "untilCopied">) {
  const { devices, credentials, checkinLists } = clients;

  /** Where lists of several events have one id, a ticket of another event must not open the gate. */
  async function versionFor({ tenant, ofTenant, signal }: Incoming<unknown, unknown>) {
    const { lists } = await checkinLists.findSharedIds(ofTenant({ among: amongEventsOf(tenant) }), { signal });
    return lists.length === 0 ? version : versionOfLists;
  }

  /** Waits until the device can authenticate with the token of the answer. */
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
        ok: { description: "The device, with its token.", schema: deviceWithToken },
        invalid,
        conflict,
      },
      async handle({ body, signal }) {
        const token = makeToken();
        const { device } = await devices.initializeDevice({
          setupHash: hashOf(body.token.trim()),
          tokenHash: hashOf(token),
          machine: toMachine(body),
        });
        await settle(device, signal);
        return { status: "ok", body: { ...present(device), api_token: token } };
      },
    }),

    update: declare({
      name: "updateDevice",
      example: examples.update,
      summary: "Notes what a scanner runs on by now",
      access,
      body: updateBody,
      answers: { ok: { description: "The device.", schema: deviceShown }, invalid, conflict },
      async handle(request) {
        const id = numberOf(request);
        const { device } = await devices.updateDevice(request.ofTenant({ id, machine: toMachine(request.body) }));
        return { status: "ok", body: present(device) };
      },
    }),

    info: declare({
      name: "getDeviceInfo",
      example: examples.info,
      summary: "Shows a scanner its device, and the version that it speaks to",
      access,
      answers: { ok: { description: "The device and this server.", schema: infoShown } },
      async handle(request) {
        const { device } = await devices.getDevice(request.ofTenant({ id: numberOf(request) }), {
          signal: request.signal,
        });
        const server = { version: await versionFor(request) };
        return { status: "ok", body: { device: present(device), server, medium_key_sets: [] } };
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
        ok: { description: "The device, with its new token.", schema: deviceWithToken },
        invalid,
        conflict,
      },
      async handle(request) {
        const token = makeToken();
        const id = numberOf(request);
        const former = readAuthorization(request.header("Authorization") ?? "");
        const hashes = { tokenHash: hashOf(token), formerHash: hashOf(former.token) };
        const { device } = await devices.rollDevice(request.ofTenant({ id, ...hashes }));
        await settle(device, request.signal);
        return { status: "ok", body: { ...present(device), api_token: token } };
      },
    }),

    revoke: declare({
      name: "revokeOwnDevice",
      example: examples.revoke,
      summary: "Ends the access of the scanner that asks",
      access,
      body: emptyBody,
      answers: {
        ok: { description: "The device, which is revoked.", schema: deviceShown },
        invalid,
        conflict,
      },
      async handle(request) {
        const id = numberOf(request);
        const { device } = await devices.getDevice(request.ofTenant({ id }), { signal: request.signal });
        const { credential } = await credentials.revokeCredential(
          request.ofTenant({ kind: CredentialKind.DEVICE, id }),
        );
        await settle(device && { ...device, credential }, request.signal);
        return { status: "ok", body: present(device) };
      },
    }),

    select: declare({
      name: "selectEventOfDevice",
      example: examples.select,
      summary: "Tells a scanner which event to scan now",
      description:
        "The event or date that begins first among those that have not ended, of events whose shop is open; with its first check-in list.",
      access,
      query: {
        current_event: textFilter("The slug of the event that it scans."),
        current_subevent: numberFilter("The date that it scans."),
        current_checkinlist: numberFilter("The check-in list that it scans."),
      },
      answers: {
        ok: { description: "What to scan.", schema: selectionShown },
        notModified: { description: "It scans the right event and date already." },
        notFound: notFound("No event of the device has not ended."),
      },
      async handle(request) {
        numberOf(request);
        const { query } = request;
        const selected = await selectEvent(request, Date.now() * 1000, clients);
        if (selected === undefined) throw fault("not_found", "No event has not ended.");
        const isCurrent =
          query.current_event === selected.event.slug &&
          (query.current_subevent ?? null) === selected.subevent &&
          (query.current_checkinlist !== undefined || selected.checkinlist === null);
        return isCurrent ? { status: "notModified" } : { status: "ok", body: selected };
      },
    }),

    version: declare({
      name: "getVersion",
      example: examples.version,
      summary: "Shows the version of the interface that scanners know",
      access,
      answers: { ok: { description: "The version.", schema: versionShown } },
      handle: async (request) => ({ status: "ok", body: await versionFor(request) }),
    }),
  };
}

/** The number of the device that asks. */
function numberOf({ tenant }: Incoming<unknown, unknown>): string {
  if (tenant.kind !== "device") throw fault("forbidden", "These credentials are no device.");
  return tenant.id;
}

const hashOf = (secret: string | Buffer) => hash("sha256", secret, "buffer");

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
