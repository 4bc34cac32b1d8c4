import { Fault } from "@tessera/kit/fault";
import type { Queryable } from "@tessera/kit/pg/database";
import type { Ids, PositionFilters } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { planSearch } from "../domain/search-text.ts";
import type { EventKey } from "../store/keys.ts";
import { findKnownIds, type IdKind } from "../store/known-ids.ts";
import { everyPosition, type PositionChoice } from "../store/position-filter.ts";
import { toOrderStatusOfLetter } from "../wire.ts";

/** Which tickets of a list are asked for. */
interface Asked {
  readonly search?: string | undefined;
  readonly order?: string | undefined;
  readonly filters?: PositionFilters | undefined;
}

/** Reads which tickets are asked for. Codes of vouchers are not known here, so no ticket has one. */
export function choosePositions({ search, order, filters }: Asked): PositionChoice {
  const choice = { ...everyPosition, search: planSearch(search), orderCode: withoutNull(order) || undefined };
  if (filters === undefined) return choice;
  const idsOf = (sent: readonly Ids[]) => sent.map(({ ids }) => ids);
  return {
    ...choice,
    attendeeName: filters.attendeeName,
    secret: withoutNull(filters.secret),
    pseudonymizationId: withoutNull(filters.pseudonymizationId),
    voucher: filters.voucher,
    items: idsOf(filters.items),
    variations: idsOf(filters.variations),
    subevents: idsOf(filters.subevents),
    addonTo: idsOf(filters.addonTo),
    orderStatuses: filters.orderStatuses?.words.flatMap((letter) => toOrderStatusOfLetter(letter) ?? []),
    hasCheckin: filters.hasCheckin,
    usableAt: filters.admissibleAt,
    isPossible: filters.voucherCode === undefined,
  };
}

/** No text that is stored has one, and a database refuses it. */
function withoutNull(text: string | undefined): string | undefined {
  return text?.replaceAll("\0", "");
}

/** Names the parameters by which somebody asks for ids that the event does not have. */
export async function findUnknownIds(
  db: Queryable,
  { organizer, event }: EventKey,
  filters: PositionFilters | undefined,
): Promise<Fault | undefined> {
  if (filters === undefined) return undefined;
  const groups: readonly (readonly [IdKind, string, readonly Ids[]])[] = [
    ["item", "item", filters.items],
    ["variation", "variation", filters.variations],
    ["subevent", "date", filters.subevents],
    ["position", "position", filters.addonTo],
  ];
  const fields: Record<string, string[]> = {};
  for (const [kind, what, sent] of groups) {
    const known = await findKnownIds(db, kind, { organizer, event, ids: sent.flatMap(({ ids }) => ids) });
    for (const { ids, parameter } of sent) {
      const unknown = ids.filter((id) => !known.has(id));
      if (unknown.length > 0) fields[parameter] = tell(unknown, what);
    }
  }
  if (Object.keys(fields).length === 0) return undefined;
  return new Fault("invalid", "invalid_filter", "The event has no such objects.", { fields });
}

/** Unknown ids; more of them say nothing new. */
const mostTold = 50;

function tell(unknown: readonly number[], what: string): string[] {
  const told = unknown.slice(0, mostTold).map((id) => `Invalid id "${id}": this event has no such ${what}.`);
  return unknown.length > told.length ? [...told, `and ${unknown.length - told.length} more`] : told;
}
