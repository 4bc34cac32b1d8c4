/** Profiles that open a closed set of routes to a device. Each route names those it belongs to. */
export const scanProfiles = ["pretixscan", "pretixscan_online_kiosk", "pretixscan_online_noorders"] as const;

export type ScanProfile = (typeof scanProfiles)[number];

/** `full` limits a device by its permissions alone. */
export type DeviceProfile = "full" | ScanProfile;

/** Reads the name of a profile; null is `full`. An unknown one fails closed: such a device may scan and nothing more. */
export function deviceProfileOf(name: string | null): DeviceProfile {
  if (name === null || name === "full") return "full";
  return scanProfiles.find((profile) => profile === name) ?? "pretixscan";
}
