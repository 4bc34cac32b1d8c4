import { type Place, routesLike } from "../place.ts";
import type { Access } from "../route.ts";
import { type Caller, holds, type Tenant } from "./caller.ts";

/** Tells whether a caller may use a method of a place, as far as its permissions and profile go. */
export function mayUse(caller: Caller, place: Place, method: string): boolean {
  return routesLike(place, method).some(({ access }) => grants(access, caller));
}

function grants(access: Access, caller: Caller): boolean {
  switch (access.kind) {
    case "public":
      return true;
    case "operator":
      return caller.kind === "operator";
    case "any":
      return caller.kind !== "operator" && isOpenTo(access.profiles, caller);
    case "event":
      return caller.kind !== "operator" && isOpenTo(access.profiles, caller) && isPermitted(access.anyOf, caller);
  }
}

function isOpenTo(profiles: readonly string[], { profile }: Tenant): boolean {
  return profile === "full" || profiles.includes(profile);
}

function isPermitted(anyOf: Extract<Access, { kind: "event" }>["anyOf"], caller: Tenant): boolean {
  return anyOf.length === 0 || anyOf.some((permission) => holds(caller, permission));
}

/** Tells whether a caller may enter an event at all, if there is one of this name. */
export function mayEnter(caller: Caller, organizer: string, event: string): boolean {
  if (caller.kind === "operator") return false;
  return caller.organizer === organizer && (caller.events === undefined || caller.events.has(event));
}
