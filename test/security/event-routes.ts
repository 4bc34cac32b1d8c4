import { devicePermissions } from "@tessera/values";

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: { readonly type?: unknown };
}

interface Operation {
  readonly description: string;
  readonly parameters?: readonly Parameter[];
  readonly security: readonly unknown[];
}

/** The document of the API. */
export interface Documented {
  readonly paths: Record<string, Record<string, Operation>>;
}

export interface EventRoute {
  readonly method: string;
  /** Below the event. */
  readonly path: string;
  readonly operation: Operation;
  /** One of these permissions opens it; without any, access to the event does. */
  readonly anyOf: readonly string[];
  /** It is open to these profiles of devices. */
  readonly profiles: readonly string[];
}

/** Reads who may use a route: what the document says of each is held to the specification beside the gateway's access. */
function readRights({ description }: Operation): Pick<EventRoute, "anyOf" | "profiles"> {
  const [, needs = "", scanners = ""] = /Needs (.+?)\.(?: Open to device profiles (.+)\.)?$/.exec(description) ?? [];
  const anyOf = needs === "access to the event" ? [] : needs.split(" or ").map((name) => name.replaceAll("`", ""));
  const full = anyOf.length === 0 || anyOf.some((name) => devicePermissions.has(name));
  return { anyOf, profiles: [...(full ? ["full"] : []), ...scanners.split(", ")] };
}

const eventPrefix = "/api/v1/organizers/{organizer}/events/{event}";

/** Reads the routes of events. */
export function readEventRoutes(document: Documented): EventRoute[] {
  return Object.entries(document.paths)
    .filter(([path]) => path.startsWith(eventPrefix))
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path: path.slice(eventPrefix.length),
        operation,
        ...readRights(operation),
      })),
    );
}
