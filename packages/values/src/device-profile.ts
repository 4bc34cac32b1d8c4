/** Profiles that limit a device to a closed set of routes. Each route names its profiles. */
export const scanProfiles = ["pretixscan", "pretixscan_online_kiosk", "pretixscan_online_noorders"] as const;

export type ScanProfile = (typeof scanProfiles)[number];

/** `full` limits a device only by its permissions. */
export type DeviceProfile = "full" | ScanProfile;

/** Reads the name of a profile; null is `full`. A device with an unknown profile may only scan. */
export function deviceProfileOf(name: string | null): DeviceProfile {
  if (name === null || name === "full") return "full";
  return scanProfiles.find((profile) => profile === name) ?? "pretixscan";
}
