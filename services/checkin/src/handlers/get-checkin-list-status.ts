import { coversItem } from "@tessera/admission";
import type { Reads } from "@tessera/kit/pg/reads";
import type {
  GetCheckinListStatusRequest,
  GetCheckinListStatusResponse,
  ItemStatus,
} from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import { pick } from "@tessera/values";
import { countByItem, type ItemCounts } from "../store/counts.ts";
import { requireEvent } from "../store/events.ts";
import { type ItemInfo, listItems } from "../store/items.ts";
import { requireList } from "../store/lists.ts";
import { findSubevent } from "../store/subevents.ts";

/** Shows the counts of a list by item and variation: tickets expected, entered and inside. */
export async function getCheckinListStatus(
  request: GetCheckinListStatusRequest,
  { reads }: { readonly reads: Reads },
): Promise<GetCheckinListStatusResponse> {
  return reads.inTurn(request.organizer, async (db) => {
    const { organizer, event: slug } = request;
    const event = await requireEvent(db, request);
    const list = await requireList(db, request);
    const date =
      list.subevent === null ? undefined : await findSubevent(db, { organizer, event: slug, id: list.subevent });
    const items = (await listItems(db, request)).filter((item) => coversItem(list, item.id));
    const counts = await countByItem(db, request);
    return {
      eventName: pick(date?.name ?? event.name, event.locale),
      positionCount: sum(counts, "positions"),
      checkinCount: sum(counts, "entered"),
      insideCount: sum(counts, "inside"),
      items: items.map((item) => toItemStatus(item, counts, event.locale)),
    };
  });
}

function toItemStatus(item: ItemInfo, all: readonly ItemCounts[], locale: string): ItemStatus {
  const counts = all.filter((count) => count.item === item.id);
  const variations = [...item.variations].sort((a, b) => a.position - b.position || a.id - b.id);
  return {
    id: item.id,
    name: item.internalName || pick(item.name, locale),
    admission: item.admission,
    positionCount: sum(counts, "positions"),
    checkinCount: sum(counts, "entered"),
    variations: variations.map((variation) => {
      const ofVariation = counts.filter((count) => count.variation === variation.id);
      return {
        id: variation.id,
        value: pick(variation.value, locale),
        positionCount: sum(ofVariation, "positions"),
        checkinCount: sum(ofVariation, "entered"),
      };
    }),
  };
}

function sum(counts: readonly ItemCounts[], field: "positions" | "entered" | "inside"): number {
  return counts.reduce((total, count) => total + count[field], 0);
}
