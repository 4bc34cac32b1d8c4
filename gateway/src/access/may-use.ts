import type { Permission, ScanProfile } from "@tessera/values";
import { type Caller, holds, type Tenant } from "./caller.ts";

export type Access =
  | { readonly kind: "public" }
  | { readonly kind: "operator" }
  /** The operator's key, and API keys that may bring records of their organizer; the route keeps them to these. */
  | { readonly kind: "records" }
  /** Every key, every person, and every device whose profile the route is open to. */
  | { readonly kind: "any"; readonly profiles: readonly ScanProfile[] }
  /** Keys, people and devices with access to the event of the path. */
  | {
      readonly kind: "event";
      /** Any one is sufficient. With an empty list access to the event is sufficient. */
      readonly anyOf: readonly Permission[];
      readonly profiles: readonly ScanProfile[];
    }
  /** Keys, people and devices of the organizer in the path; the route shows only events that they have access to. */
  | { readonly kind: "member"; readonly anyOf: readonly Permission[]; readonly profiles: readonly ScanProfile[] }
  /** People who have signed in. */
  | { readonly kind: "person" }
  /** API keys with access to all events of the organizer in the path, and with one of these permissions. */
  | { readonly kind: "organizer"; readonly anyOf: readonly Permission[] };

/** Whether permissions and profile of a caller allow one of these routes. */
export function mayUse(caller: Caller, routes: readonly { readonly access: Access }[]): boolean {
  return routes.some(({ access }) => grants(access, caller));
}

function grants(access: Access, caller: Caller): boolean {
  switch (access.kind) {
    case "public":
      return true;
    case "operator":
      return caller.kind === "operator";
    case "records":
      return (
        caller.kind === "operator" || (caller.kind === "api_key" && isPermitted(["organizer.records:write"], caller))
      );
    case "person":
      return caller.kind === "person";
    case "any":
      return caller.kind !== "operator" && isOpenTo(access.profiles, caller);
    case "event":
    case "member":
      return caller.kind !== "operator" && isOpenTo(access.profiles, caller) && isPermitted(access.anyOf, caller);
    case "organizer":
      return caller.kind === "api_key" && isPermitted(access.anyOf, caller);
  }
}

function isOpenTo(profiles: readonly string[], { profile }: Tenant): boolean {
  return profile === "full" || profiles.includes(profile);
}

function isPermitted(anyOf: readonly Permission[], caller: Tenant): boolean {
  return anyOf.length === 0 || anyOf.some((permission) => holds(caller, permission));
}

/** Whether a caller has access to an event of this name, should the event exist. */
export function hasEventAccess(caller: Caller, organizer: string, event: string): boolean {
  if (caller.kind === "operator") return false;
  return caller.organizer === organizer && (caller.events === undefined || caller.events.has(event));
}

/** Whether a caller may use routes of an organizer: with access to all events, or routes that are open to each member. */
export function hasOrganizerAccess(
  caller: Caller,
  organizer: string,
  routes: readonly { readonly access: Access }[],
): boolean {
  if (caller.kind === "operator" || caller.organizer !== organizer) return false;
  return caller.events === undefined || routes.some(({ access }) => access.kind === "member");
}
