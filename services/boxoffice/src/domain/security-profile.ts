const profiles: ReadonlySet<string> = new Set([
  "full",
  "pretixscan",
  "pretixscan_online_kiosk",
  "pretixscan_online_noorders",
]);

/** Resolves the name of a device's security profile. One that we do not know may scan and nothing more. */
export function resolveSecurityProfile(name: string | null): string {
  if (name === null) return "full";
  return profiles.has(name) ? name : "pretixscan";
}
