import { isSlug, permissions } from "@tessera/values";

/** What people may be permitted: records are brought by programs. */
export const grantable = permissions.filter((name) => name !== "organizer.records:write");

/** The permissions of a grant that names none. */
export const usualPermissions = ["event.orders:read"] as const;

/** More than an account needs. */
const mostGrants = 1000;

const known: ReadonlySet<string> = new Set(grantable);

/**
 * Reads the claim of an account: `organizer` permits to read orders, `organizer:permission` something else. What is not
 * understood permits nothing.
 */
export function readGrants(claim: unknown): ReadonlyMap<string, readonly string[]> {
  const entries: readonly unknown[] = Array.isArray(claim) ? claim.slice(0, mostGrants) : [claim];
  const grants = new Map<string, Set<string>>();
  for (const entry of entries) {
    const [organizer = "", permission] = typeof entry === "string" ? entry.trim().split(/:(.*)/s) : [];
    const permitted = permission === undefined ? usualPermissions : [permission].filter((name) => known.has(name));
    if (!isSlug(organizer) || permitted.length === 0) continue;
    const all = grants.get(organizer) ?? new Set();
    for (const name of permitted) all.add(name);
    grants.set(organizer, all);
  }
  return new Map(Array.from(grants, ([organizer, names]) => [organizer, [...names].sort()]));
}
