import { hash } from "node:crypto";
import {
  type DeviceProfile,
  devicePermissions,
  deviceProfileOf,
  everyPermission,
  type Permission,
  standsInPublic,
} from "@tessera/values";
import type { Credential, CredentialKind, Device } from "../store/credentials.ts";

/** The sender of a request. */
export type Caller = Operator | Tenant;

/** Runs the deployment. It may import records, and belongs to no organizer. */
export interface Operator {
  readonly kind: "operator";
  readonly logId: string;
}

/** An API key or a device of one organizer. */
export interface Tenant {
  readonly kind: CredentialKind;
  /** The id of its credential; another organizer may have the same. */
  readonly id: string;
  /** Enough of its id to find it; never a token, nor anything that leads to one. */
  readonly logId: string;
  /** The key under which its requests are counted, also outside this process. It identifies the caller and reveals nothing else. */
  readonly countedAs: string;
  readonly organizer: string;
  readonly permissions: ReadonlySet<string>;
  /** Undefined: all events of the organizer. */
  readonly events: ReadonlySet<string> | undefined;
  /** API keys are limited by their permissions alone. */
  readonly profile: DeviceProfile;
  readonly device: Device | undefined;
}

export const operator: Operator = { kind: "operator", logId: "operator" };

/** Makes the caller of a valid credential. */
export function toCaller(credential: Credential): Tenant {
  const { kind, organizer, device } = credential;
  const profile = kind === "device" ? deviceProfileOf(device?.securityProfile ?? "") : "full";
  // A device that is put up in public is no longer the caller who was answered when the staff had it.
  const place = standsInPublic(profile) ? ["public"] : [];
  const name = hash("sha256", JSON.stringify([organizer, kind, credential.id, ...place]), "buffer");
  return {
    kind,
    id: credential.id,
    logId: `${kind}:${credential.id.slice(0, 8)}`,
    countedAs: name.subarray(0, 16).toString("base64url"),
    organizer,
    permissions: kind === "device" ? devicePermissions : new Set(credential.permissions),
    events: credential.allEvents ? undefined : new Set(credential.events),
    profile,
    device: device ?? undefined,
  };
}

/** Tells whether a caller holds a permission. */
export function holds(caller: Tenant, permission: Permission): boolean {
  return caller.permissions.has(permission) || caller.permissions.has(everyPermission);
}
