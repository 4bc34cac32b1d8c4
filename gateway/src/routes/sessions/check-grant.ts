import type { Fault } from "@tessera/kit/fault";
import { FieldProblems } from "@tessera/schema/field-problems";
import { closestName, everyPermission, isPermission, resolvePermissions } from "@tessera/values";
import { grantable } from "../../access/read-grants.ts";
import { fault } from "../../faults.ts";

interface Asked {
  readonly permissions: readonly string[];
  readonly all_events: boolean;
  readonly events: readonly string[];
}

/** Checks what a link is to open; throws with all that is wrong. `known` are those of its events that there are. */
export function checkGrant(asked: Asked, known: ReadonlySet<string>) {
  const problems = new FieldProblems();
  for (const name of asked.permissions) {
    const problem = objectTo(name);
    if (problem !== undefined) problems.add("permissions", problem);
  }
  const events = asked.all_events ? [] : [...new Set(asked.events)];
  for (const event of events) if (!known.has(event)) problems.add("events", `There is no event ${event}.`);
  if (!problems.isEmpty) throw invalid(problems);
  return { permissions: resolvePermissions(asked.permissions), allEvents: asked.all_events, events };
}

function objectTo(name: string): string | undefined {
  if (name === everyPermission) return "A person gets permissions by their names, not all at once.";
  if (name === "organizer.records:write") return "Records are brought by API keys, not by people.";
  if (isPermission(name)) return undefined;
  const meant = closestName(name, grantable);
  return `There is no permission of this name. ${meant === undefined ? "Example: event.orders:read." : `Did you mean ${meant}?`}`;
}

function invalid(problems: FieldProblems): Fault {
  return fault("invalid_body", "the body is not valid", { fields: problems.toErrors() });
}
