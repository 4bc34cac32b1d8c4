import { Fault } from "@tessera/kit/fault";
import { accessOptions, requireOperatorKey } from "../operator-access.ts";
import type { Access } from "./call-platform.ts";

/** What every verb about keys and devices takes. */
export const ownerOptions = {
  organizer: { type: "string", value: "SLUG", help: "the organizer it belongs to (required)" },
  ...accessOptions,
} as const;

/** What is said of everything that is created. */
export const creationOptions = {
  name: { type: "string", value: "NAME", help: "what to find it again by (required)" },
  events: { type: "string", value: "SLUG,…", help: "the events that it is good for" },
  "all-events": { type: "boolean", help: "good for all events of the organizer, also future ones" },
} as const;

/** What verbs take that show all of them. */
export const listOptions = {
  json: { type: "boolean", help: "prints JSON instead of a table" },
  ...ownerOptions,
} as const;

interface Owner {
  readonly organizer: string;
  readonly access: Access;
}

/** Reads whose credentials it is about, and how the platform is reached. */
export function readOwner(values: {
  readonly organizer: string | undefined;
  readonly url: string;
  readonly key: string | undefined;
}): Owner {
  const organizer = requireOption("organizer", values.organizer);
  return { organizer, access: { url: values.url, key: requireOperatorKey(values) } };
}

/** The path of an organizer's resource. */
export function pathOf(organizer: string, resource: string): string {
  return `organizers/${encodeURIComponent(organizer)}/${resource}`;
}

/** Reads the name and the events of something new. */
export function readCreation(values: {
  readonly name: string | undefined;
  readonly events: string | undefined;
  readonly "all-events": boolean;
}): { name: string; all_events: boolean; events: string[] } {
  const events = splitList(values.events);
  if (values["all-events"] && events.length > 0)
    throw new Fault("invalid", "events_and_all", "either --events or --all-events, not both");
  return { name: requireOption("name", values.name), all_events: values["all-events"] === true, events };
}

/** Splits what commas separate. */
export function splitList(text: string | undefined): string[] {
  return (text ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** Returns the one id that a verb names. */
export function requireId(names: readonly string[], what: string): string {
  const [id] = names;
  if (id === undefined || id === "" || names.length > 1)
    throw new Fault("invalid", "no_id", `name one ${what} by its id`);
  return id;
}

/** Refuses names that a verb has no use for. */
export function refuseNames(names: readonly string[]): void {
  if (names.length > 0)
    throw new Fault("invalid", "unexpected_name", `${names.join(" ")} is not expected here; options begin with --`);
}

function requireOption(name: string, value: string | undefined): string {
  if (value === undefined || value.trim() === "") throw new Fault("invalid", "missing_option", `--${name} is required`);
  return value;
}
