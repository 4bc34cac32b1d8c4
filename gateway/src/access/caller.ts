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

/** Runs the deployment. May import records, and belongs to no organizer. */
export interface Operator {
  readonly kind: "operator";
  readonly logId: string;
}

/** An API key or a device of one organizer. */
export interface Tenant {
  readonly kind: CredentialKind;
  /** The id of its credential, unique within the organizer. */
  readonly id: string;
  /** What its organizer calls it. */
  readonly name: string;
  /** A prefix of the id, enough to find the credential; never a token, nor anything that leads to a token. */
  readonly logId: string;
  /** The key for counting its requests, also outside this process. Identifies the caller, and reveals nothing else. */
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
  // A device that was moved to a public place must not get answers that were kept for the staff.
  const place = standsInPublic(profile) ? ["public"] : [];
  const name = hash("sha256", JSON.stringify([organizer, kind, credential.id, ...place]), "buffer");
  return {
    kind,
    id: credential.id,
    name: credential.name,
    logId: `${kind}:${credential.id.slice(0, 8)}`,
    countedAs: name.subarray(0, 16).toString("base64url"),
    organizer,
    permissions: kind === "device" ? devicePermissions : new Set(credential.permissions),
    events: credential.allEvents ? undefined : new Set(credential.events),
    profile,
    device: device ?? undefined,
  };
}

export function holds({ permissions }: Pick<Tenant, "permissions">, permission: Permission): boolean {
  return permissions.has(permission) || permissions.has(everyPermission);
}
