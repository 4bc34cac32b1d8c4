/** The permissions of an API key, by their current names. */
export const permissions = [
  "event.settings.general:write",
  "event.items:write",
  "event.orders:read",
  "event.orders:write",
  "event.orders:checkin",
  "event:cancel",
  "event.vouchers:read",
  "event.vouchers:write",
  "organizer.events:create",
  "organizer.settings.general:write",
  "organizer.devices:read",
  "organizer.devices:write",
  "organizer.seatingplans:write",
  "organizer.outgoingmails:read",
  "organizer.teams:write",
  "organizer.giftcards:read",
  "organizer.giftcards:write",
  "organizer.customers:read",
  "organizer.customers:write",
  "organizer.reusablemedia:read",
  "organizer.reusablemedia:write",
  "organizer.records:write",
] as const;

export type Permission = (typeof permissions)[number];

/** The permissions that open something here, with what they open. Keys of a shop may have the others, too. */
export const usedPermissions: ReadonlyMap<Permission, string> = new Map([
  ["event.orders:read", "read check-in lists, tickets, orders and scans; preview layouts"],
  ["event.orders:checkin", "scan, and read what scanners read"],
  ["event.orders:write", "scan; sell offline, explain doubles, export and erase personal data"],
  ["event.settings.general:write", "change check-in lists and ticket layouts"],
  ["event.vouchers:read", "read vouchers"],
  ["event.vouchers:write", "create, change and delete vouchers"],
  ["organizer.records:write", "send records of the organizer"],
]);

/** Means every permission, also those of later versions. */
export const everyPermission = "*";

/** The permissions of every device. Its profile restricts it further. */
export const devicePermissions: ReadonlySet<string> = new Set<Permission>([
  "event.orders:read",
  "event.orders:write",
  "event.vouchers:read",
]);

/** The current permissions of each classic name. None means more than its name. */
const classic: ReadonlyMap<string, readonly Permission[]> = new Map([
  ["can_change_event_settings", ["event.settings.general:write"]],
  ["can_change_items", ["event.items:write"]],
  ["can_view_orders", ["event.orders:read"]],
  ["can_change_orders", ["event.orders:write"]],
  ["can_checkin_orders", ["event.orders:checkin"]],
  ["can_view_vouchers", ["event.vouchers:read"]],
  ["can_change_vouchers", ["event.vouchers:write"]],
  ["can_create_events", ["organizer.events:create"]],
  ["can_change_organizer_settings", ["organizer.settings.general:write"]],
  ["can_change_teams", ["organizer.teams:write"]],
  ["can_manage_gift_cards", ["organizer.giftcards:read", "organizer.giftcards:write"]],
  ["can_manage_customers", ["organizer.customers:read", "organizer.customers:write"]],
  ["can_manage_reusable_media", ["organizer.reusablemedia:read", "organizer.reusablemedia:write"]],
]);

/** Every name that a permission may be given by. */
export const permissionNames: readonly string[] = [everyPermission, ...permissions, ...classic.keys()];

const current: ReadonlySet<string> = new Set(permissions);

/** Whether this is the name of a permission: a current name, a classic name, or `*`. */
export function isPermission(name: string): boolean {
  return name === everyPermission || current.has(name) || classic.has(name);
}

/** Resolves names of permissions to current names, each once and sorted. `*` replaces all others. */
export function resolvePermissions(names: readonly string[]): string[] {
  if (names.includes(everyPermission)) return [everyPermission];
  return [...new Set(names.flatMap((name): readonly string[] => classic.get(name) ?? [name]))].sort();
}
