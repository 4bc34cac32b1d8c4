import type {
  CheckinListFields,
  CheckinList as CheckinListOnWire,
} from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import { type CheckinList, type ListFields, withoutRepeats } from "../domain/list.ts";

export function toCheckinList(
  list: CheckinList,
  counts: { readonly positions: number; readonly entered: number },
): CheckinListOnWire {
  return {
    id: list.id,
    fields: {
      name: list.name,
      allProducts: list.allProducts,
      limitProducts: [...list.limitProducts],
      subevent: list.subevent ?? undefined,
      includePending: list.includePending,
      allowMultipleEntries: list.allowMultipleEntries,
      allowEntryAfterExit: list.allowEntryAfterExit,
      rules: list.rules,
      exitAllAt: list.exitAllAt ?? undefined,
      addonMatch: list.addonMatch,
      ignoreInStatistics: list.ignoreInStatistics,
      considerTicketsUsed: list.considerTicketsUsed,
    },
    positionCount: counts.positions,
    checkinCount: counts.entered,
  };
}

export function fromListFields(fields: CheckinListFields): ListFields {
  return {
    name: fields.name,
    allProducts: fields.allProducts,
    limitProducts: withoutRepeats(fields.limitProducts),
    subevent: fields.subevent ?? null,
    includePending: fields.includePending,
    allowMultipleEntries: fields.allowMultipleEntries,
    allowEntryAfterExit: fields.allowEntryAfterExit,
    rules: fields.rules,
    exitAllAt: fields.exitAllAt ?? null,
    addonMatch: fields.addonMatch,
    ignoreInStatistics: fields.ignoreInStatistics,
    considerTicketsUsed: fields.considerTicketsUsed,
  };
}

/** The fields that an update can name. */
const fieldByName = {
  name: "name",
  all_products: "allProducts",
  limit_products: "limitProducts",
  subevent: "subevent",
  include_pending: "includePending",
  allow_multiple_entries: "allowMultipleEntries",
  allow_entry_after_exit: "allowEntryAfterExit",
  rules: "rules",
  exit_all_at: "exitAllAt",
  addon_match: "addonMatch",
  ignore_in_statistics: "ignoreInStatistics",
  consider_tickets_used: "considerTicketsUsed",
} as const satisfies Record<string, keyof ListFields>;

export const listFieldNames: ReadonlySet<string> = new Set(Object.keys(fieldByName));

/** Takes over the named fields; the others keep their value. */
export function takeOverFields(list: CheckinList, sent: ListFields, names: ReadonlySet<string>): CheckinList {
  const wanted = Object.entries(fieldByName).filter(([name]) => names.has(name));
  return { ...list, ...Object.fromEntries(wanted.map(([, field]) => [field, sent[field]])) };
}
