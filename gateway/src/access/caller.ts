import { hash } from "node:crypto";
import {
  type DeviceProfile,
  devicePermissions,
  deviceProfileOf,
  everyPermission,
  type Permission,
  standsInPublic,
} from "@tessera/values";
import type { CallerKind, Credential, Device } from "../store/credentials.ts";
import type { Session } from "../store/session-rows.ts";

export type Caller = Operator | Tenant;

/** Runs the deployment. May import records, and belongs to no organizer. */
export interface Operator {
  readonly kind: "operator";
  readonly logId: string;
}

/** An API key, a device or a person of one organizer. */
export interface Tenant {
  readonly kind: CallerKind;
  /** The id of its credential or session, unique within the organizer. */
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
  /** API keys and people are limited by their permissions alone. */
  readonly profile: DeviceProfile;
  readonly device: Device | undefined;
  /** When the session of a person ends, in microseconds since 1970. */
  readonly endsAt?: number;
}

export const operator: Operator = { kind: "operator", logId: "operator" };

type Authenticated = Omit<Credential, "kind" | "tokenHash" | "active"> & { readonly kind: CallerKind };

export function toCaller(credential: Authenticated): Tenant {
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

export function toPerson({ id, organizer, name, permissions, allEvents, events, endsAt }: Session): Tenant {
  const grant = { id, organizer, name, permissions, allEvents, events };
  return { ...toCaller({ ...grant, kind: "person", device: null }), endsAt };
}

export function holds({ permissions }: Pick<Tenant, "permissions">, permission: Permission): boolean {
  return permissions.has(permission) || permissions.has(everyPermission);
}
