import {
  type CheckinList,
  CheckinListFields,
  type GetCheckinListStatusResponse,
} from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import { checkinList } from "@tessera/resources/checkin-list";
import { fields } from "@tessera/schema/fields";
import type { Resource } from "../listed-positions/expand.ts";

export const listFields = fields(checkinList, CheckinListFields);

/** The fields of a list, in the documented order; with its date, if that was expanded. */
export function presentList(list: CheckinList | undefined, subevents: ReadonlyMap<number, Resource> = new Map()) {
  if (list?.fields === undefined) throw new Error("checkin answered without the fields of a list");
  const { name, all_products, limit_products, subevent, ...others } = listFields.present(list.fields);
  return {
    id: list.id,
    name,
    all_products,
    limit_products,
    subevent: subevent === null ? null : (subevents.get(subevent) ?? subevent),
    checkin_count: list.checkinCount,
    position_count: list.positionCount,
    ...others,
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
