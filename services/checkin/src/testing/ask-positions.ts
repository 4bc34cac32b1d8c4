import type {
  GetPositionRequest,
  GetPositionResponse,
  ListPositionsRequest,
  ListPositionsResponse,
  PositionFilters,
} from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { place } from "./facts.ts";
import type { RunningCheckin } from "./start-checkin.ts";

/** A list whose tickets are requested as the gateway does. */
export interface AskedList {
  readonly checkin: RunningCheckin;
  readonly list: number;
}

type Changes = Partial<ListPositionsRequest>;

export function askPage({ checkin, list }: AskedList, changes: Changes = {}): Promise<ListPositionsResponse> {
  return checkin.positions.listPositions({
    ...place,
    list,
    page: 1,
    pageSize: 50,
    ordering: [],
    ignoreStatus: false,
    searchOnly: false,
    ...changes,
  });
}

/** The ids of the only page. */
export async function askIds(asked: AskedList, changes: Changes = {}): Promise<number[]> {
  const { positions, count } = await askPage(asked, changes);
  if (count !== positions.length) throw new Error(`${count} tickets, of which ${positions.length} are on this page`);
  return positions.flatMap(({ position }) => position?.id ?? []);
}

/** The same, sorted by id. */
export async function askIdsInOrder(asked: AskedList, changes: Changes = {}): Promise<number[]> {
  return (await askIds(asked, changes)).sort((a, b) => a - b);
}

export function askOne(
  { checkin, list }: AskedList,
  id: number,
  changes: Partial<GetPositionRequest> = {},
): Promise<GetPositionResponse> {
  return checkin.positions.getPosition({ ...place, list, id, ignoreStatus: false, ...changes });
}

export function filters(changes: Partial<PositionFilters> = {}): PositionFilters {
  return { items: [], variations: [], addonTo: [], subevents: [], ...changes };
}
