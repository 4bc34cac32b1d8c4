import {
  CheckinListFields,
  type CheckinList as CheckinListOnWire,
} from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import { checkinList } from "@tessera/resources/checkin-list";
import { fields } from "@tessera/schema/fields";
import { type CheckinList, type ListFields, withoutRepeats } from "../domain/list.ts";

export const listFields = fields(checkinList, CheckinListFields);

export function toCheckinList(
  list: CheckinList,
  counts: { readonly positions: number; readonly entered: number } = { positions: 0, entered: 0 },
): CheckinListOnWire {
  return {
    id: list.id,
    fields: listFields.fromDomain(list),
    positionCount: counts.positions,
    checkinCount: counts.entered,
  };
}

export function fromListFields(sent: CheckinListFields): ListFields {
  const { limitProducts, takesFrom } = sent;
  return {
    ...listFields.toDomain(sent),
    limitProducts: withoutRepeats(limitProducts),
    takesFrom: withoutRepeats(takesFrom),
  };
}
