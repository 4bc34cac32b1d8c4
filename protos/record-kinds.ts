interface KindOfRecord {
  /** The service that owns its records. */
  readonly owner: "boxoffice" | "checkin" | "voucher" | "layout-and-render";
  /** What its records belong to; organizers belong to nothing. */
  readonly belongsTo: "nothing" | "organizer" | "event";
  /** The field of `data` that identifies a record; null: there is one per event. */
  readonly key: string | null;
}

/** Every kind of record that the format has. */
export const recordKinds = {
  organizer: { owner: "boxoffice", belongsTo: "nothing", key: "slug" },
  sales_channel: { owner: "boxoffice", belongsTo: "organizer", key: "identifier" },
  api_key: { owner: "boxoffice", belongsTo: "organizer", key: "token" },
  gate: { owner: "boxoffice", belongsTo: "organizer", key: "id" },
  device: { owner: "boxoffice", belongsTo: "organizer", key: "device_id" },
  reusable_medium: { owner: "boxoffice", belongsTo: "organizer", key: "id" },
  event: { owner: "boxoffice", belongsTo: "organizer", key: "slug" },
  event_settings: { owner: "boxoffice", belongsTo: "event", key: null },
  subevent: { owner: "boxoffice", belongsTo: "event", key: "id" },
  tax_rule: { owner: "boxoffice", belongsTo: "event", key: "id" },
  category: { owner: "boxoffice", belongsTo: "event", key: "id" },
  item: { owner: "boxoffice", belongsTo: "event", key: "id" },
  question: { owner: "boxoffice", belongsTo: "event", key: "id" },
  seat: { owner: "boxoffice", belongsTo: "event", key: "id" },
  quota: { owner: "boxoffice", belongsTo: "event", key: "id" },
  order: { owner: "boxoffice", belongsTo: "event", key: "code" },
  revoked_secret: { owner: "boxoffice", belongsTo: "event", key: "id" },
  blocked_secret: { owner: "boxoffice", belongsTo: "event", key: "id" },
  checkin_list: { owner: "checkin", belongsTo: "event", key: "id" },
  voucher: { owner: "voucher", belongsTo: "event", key: "id" },
  ticket_layout: { owner: "layout-and-render", belongsTo: "event", key: "id" },
  ticket_layout_item: { owner: "layout-and-render", belongsTo: "event", key: "id" },
} as const satisfies Readonly<Record<string, KindOfRecord>>;

export type RecordKindName = keyof typeof recordKinds;

/** The services that own records. */
export type RecordOwnerName = (typeof recordKinds)[RecordKindName]["owner"];

/** Tells whether a value names a kind. */
export function isRecordKind(name: unknown): name is RecordKindName {
  return typeof name === "string" && Object.hasOwn(recordKinds, name);
}

/** The part of its address that names such a record itself, which its `data` repeats. */
export function ownAddress(name: RecordKindName): "organizer" | "event" | undefined {
  return name === "organizer" || name === "event" ? name : undefined;
}

/** Tells whether the address of such a record names an event. */
export function isAddressedByEvent(name: RecordKindName): boolean {
  return recordKinds[name].belongsTo === "event" || ownAddress(name) === "event";
}

/** Says why records of a kind are not accepted. An unknown kind is not repeated, because it could be anything. */
export function explainUntaken(name: unknown): string {
  return isRecordKind(name)
    ? `Records of kind ${name} are not taken by this version.`
    : `There is no such kind of record. The kinds are ${Object.keys(recordKinds).join(", ")}.`;
}
