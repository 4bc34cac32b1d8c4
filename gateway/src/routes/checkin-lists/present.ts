import type {
  CheckinList,
  CheckinListFields,
  GetCheckinListStatusResponse,
} from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import { formatNullableInstant } from "../../instant.ts";
import type { Resource } from "../listed-positions/expand.ts";
import type { ListPatch } from "./schema.ts";

/** The fields of a list, in the order in which clients know them; its date in full where that was read. */
export function presentList(list: CheckinList | undefined, subevents: ReadonlyMap<number, Resource> = new Map()) {
  if (list?.fields === undefined) throw new Error("checkin answered without the fields of a list");
  const { id, fields, positionCount, checkinCount } = list;
  return {
    id,
    name: fields.name,
    all_products: fields.allProducts,
    limit_products: fields.limitProducts,
    subevent: fields.subevent === undefined ? null : (subevents.get(fields.subevent) ?? fields.subevent),
    checkin_count: checkinCount,
    position_count: positionCount,
    include_pending: fields.includePending,
    allow_multiple_entries: fields.allowMultipleEntries,
    allow_entry_after_exit: fields.allowEntryAfterExit,
    rules: fields.rules === "" ? {} : (JSON.parse(fields.rules) as unknown),
    exit_all_at: formatNullableInstant(fields.exitAllAt),
    addon_match: fields.addonMatch,
    ignore_in_statistics: fields.ignoreInStatistics,
    consider_tickets_used: fields.considerTicketsUsed,
  };
}

/** The fields a body sets, for the service that owns them. Left out ones take the wire's zero; a mask says that they do not count. */
export function toFields(body: ListPatch): CheckinListFields {
  return {
    name: body.name ?? "",
    allProducts: body.all_products ?? false,
    limitProducts: [...(body.limit_products ?? [])],
    subevent: body.subevent ?? undefined,
    includePending: body.include_pending ?? false,
    allowMultipleEntries: body.allow_multiple_entries ?? false,
    allowEntryAfterExit: body.allow_entry_after_exit ?? false,
    rules: body.rules === undefined ? "" : JSON.stringify(body.rules),
    exitAllAt: body.exit_all_at ?? undefined,
    addonMatch: body.addon_match ?? false,
    ignoreInStatistics: body.ignore_in_statistics ?? false,
    considerTicketsUsed: body.consider_tickets_used ?? false,
  };
}

export function presentStatus(status: GetCheckinListStatusResponse) {
  return {
    checkin_count: status.checkinCount,
    position_count: status.positionCount,
    inside_count: status.insideCount,
    event: { name: status.eventName },
    items: status.items.map((item) => ({
      name: item.name,
      id: item.id,
      checkin_count: item.checkinCount,
      position_count: item.positionCount,
      admission: item.admission,
      variations: item.variations.map((variation) => ({
        value: variation.value,
        id: variation.id,
        checkin_count: variation.checkinCount,
        position_count: variation.positionCount,
      })),
    })),
  };
}
