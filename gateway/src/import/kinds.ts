/** The service that owns a kind of record, and whether the kind belongs to an event or to the organizer alone. */
export interface Kind {
  readonly owner: Owner | undefined;
  readonly ofEvent: boolean;
}

export type Owner = "boxoffice" | "checkin";

const ofOrganizer: Kind = { owner: "boxoffice", ofEvent: false };
const ofEvent: Kind = { owner: "boxoffice", ofEvent: true };
/** Known, but its owner is not part of this version. */
const notTaken: Kind = { owner: undefined, ofEvent: true };

/** Every kind of record there is. */
export const kinds: ReadonlyMap<string, Kind> = new Map([
  ["organizer", ofOrganizer],
  ["sales_channel", ofOrganizer],
  ["api_key", ofOrganizer],
  ["gate", ofOrganizer],
  ["device", ofOrganizer],
  ["reusable_medium", ofOrganizer],
  ["event", ofEvent],
  ["event_settings", ofEvent],
  ["subevent", ofEvent],
  ["tax_rule", ofEvent],
  ["category", ofEvent],
  ["item", ofEvent],
  ["question", ofEvent],
  ["seat", ofEvent],
  ["quota", ofEvent],
  ["order", ofEvent],
  ["revoked_secret", ofEvent],
  ["blocked_secret", ofEvent],
  ["voucher", notTaken],
  ["ticket_layout", notTaken],
  ["ticket_layout_item", notTaken],
  ["checkin_list", { owner: "checkin", ofEvent: true }],
]);
