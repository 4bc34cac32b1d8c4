/** The profile of devices that stand in public: what they send may be typed by a passer-by, and what they show is seen by one. */
const publicProfile = "pretixscan_online_kiosk";

/** Profiles that limit a device to a closed set of routes. Each route names its profiles. */
export const scanProfiles = ["pretixscan", publicProfile, "pretixscan_online_noorders"] as const;

export type ScanProfile = (typeof scanProfiles)[number];

/** `full` limits a device only by its permissions. */
export type DeviceProfile = (typeof deviceProfiles)[number];

/** Every profile that a device may have. */
export const deviceProfiles = ["full", ...scanProfiles] as const;

/** Those of devices that staff hold. */
export const staffProfiles = scanProfiles.filter((profile) => profile !== publicProfile);

/** Tells whether devices of a profile stand in public. */
export function standsInPublic(profile: DeviceProfile): boolean {
  return profile === publicProfile;
}

/** Reads the name of a profile; null is `full`. A device with an unknown profile may only scan. */
export function deviceProfileOf(name: string | null): DeviceProfile {
  if (name === null || name === "full") return "full";
  return scanProfiles.find((profile) => profile === name) ?? "pretixscan";
}
