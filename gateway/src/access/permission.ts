/** What an API key may be allowed to do with an event. */
export const permissions = [
  "event.orders:read",
  "event.orders:write",
  "event.orders:checkin",
  "event.vouchers:read",
  "event.vouchers:write",
  "event.settings.general:write",
] as const;

export type Permission = (typeof permissions)[number];

/** Stands for every permission, also for those of later versions. */
export const everyPermission = "*";

/** Every device holds these and no others, whatever is recorded of it. */
export const devicePermissions: ReadonlySet<string> = new Set<Permission>([
  "event.orders:read",
  "event.orders:write",
  "event.vouchers:read",
]);
