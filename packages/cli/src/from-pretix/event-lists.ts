import type { Json } from "./read-answer.ts";

/** How a run avoids rereading an unchanged list. */
export type Increments =
  | "whole"
  /** By `Last-Modified`. */
  | "conditional"
  /** By a parameter that asks for changes since the newest value of a field, or since the list was generated. */
  | { readonly parameter: string; readonly newest: "X-Page-Generated" | "created" | "updated" };

export interface ListSource {
  readonly kind: string;
  /** Below the URL of the event. */
  readonly path: string;
  readonly increments: Increments;
  readonly permission: string;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  /** The import continues if pretix does not have the list: an older version, or one without the plugin. */
  readonly mayBeMissing?: true;
  readonly convert?: "voucher" | "layout";
}

export const permissions = {
  organizer: "access to the organizer",
  event: "access to the event",
  settings: "to view the event's settings (event.settings.general:write, before 2026 “can change event settings”)",
  vouchers: "to view vouchers (event.vouchers:read, before 2026 “can view vouchers”)",
  orders: "to view orders (event.orders:read, before 2026 “can view orders”)",
  media: "to view reusable media (organizer.reusablemedia:read, before 2026 “can manage reusable media”)",
} as const;

const ofEvent = { permission: permissions.event };
const ofOrders = { permission: permissions.orders };

export const subevents: ListSource = {
  kind: "subevent",
  path: "subevents/",
  increments: { parameter: "modified_since", newest: "X-Page-Generated" },
  ...ofEvent,
};

/** Orders refer to these, and later ones refer to earlier ones. */
export const catalogue: readonly ListSource[] = [
  { kind: "tax_rule", path: "taxrules/", increments: "conditional", ...ofEvent },
  { kind: "category", path: "categories/", increments: "conditional", ...ofEvent },
  { kind: "item", path: "items/", increments: "conditional", ...ofEvent },
  { kind: "question", path: "questions/", increments: "conditional", ...ofEvent },
  { kind: "quota", path: "quotas/", increments: "conditional", ...ofEvent },
];

/** The seats of an event, or of one date of a series. */
export function seatsOf(subevent: number | undefined): ListSource {
  return {
    kind: "seat",
    path: subevent === undefined ? "seats/" : `subevents/${subevent}/seats/`,
    increments: "conditional",
    mayBeMissing: true,
    ...ofEvent,
  };
}

export const beforeOrders: readonly ListSource[] = [
  {
    kind: "ticket_layout",
    path: "ticketlayouts/",
    increments: "whole",
    mayBeMissing: true,
    convert: "layout",
    ...ofEvent,
  },
  { kind: "ticket_layout_item", path: "ticketlayoutitems/", increments: "whole", mayBeMissing: true, ...ofEvent },
  // Counts cost the shop more than the rest of the list.
  {
    kind: "checkin_list",
    path: "checkinlists/",
    increments: "conditional",
    query: { exclude: ["checkin_count", "position_count"] },
    ...ofOrders,
  },
];

export const afterOrders: readonly ListSource[] = [
  // Vouchers after orders: their uses include all orders read so far; the next run corrects later changes.
  { kind: "voucher", path: "vouchers/", increments: "whole", permission: permissions.vouchers, convert: "voucher" },
  {
    kind: "revoked_secret",
    path: "revokedsecrets/",
    increments: { parameter: "created_since", newest: "created" },
    mayBeMissing: true,
    ...ofOrders,
  },
  {
    kind: "blocked_secret",
    path: "blockedsecrets/",
    increments: { parameter: "updated_since", newest: "updated" },
    mayBeMissing: true,
    ...ofOrders,
  },
];

export const reusableMedia: ListSource = {
  kind: "reusable_medium",
  path: "reusablemedia/",
  increments: { parameter: "updated_since", newest: "X-Page-Generated" },
  mayBeMissing: true,
  permission: permissions.media,
};

/** The settings that layouts, tickets and gates use; no others are imported. */
const settingNames =
  /^(?:locale|locales|region|timezone|name_scheme|show_date_to|show_times|organizer_info_text|event_info_text|reusable_media_usage_enforced|ticket_\w+|ticketoutput_\w+)$/;

/** Keeps the settings that a record holds. Null means the default, so it is left out. */
export function pickSettings(settings: Json): Json {
  return Object.fromEntries(
    Object.entries(settings).filter(([name, value]) => settingNames.test(name) && value !== null),
  );
}
