import { cutPage } from "@tessera/kit/lists/cut-page";
import type {
  ListPositionsRequest,
  PositionsOfEvent,
  SearchPositionsRequest,
  SearchPositionsResponse,
} from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { isSelective } from "../../domain/search-text.ts";
import type { ListPlaces } from "../list-places.ts";
import { findTickets, type PositionDeps, readRequest, showTickets } from "./find-tickets.ts";

/** Pages through the tickets of several lists, those of the first list first. */
export async function searchPositions(
  { asked, lists, among }: SearchPositionsRequest,
  { reads, listPlaces, ...deps }: PositionDeps & { readonly listPlaces: ListPlaces },
): Promise<SearchPositionsResponse> {
  if (asked === undefined) throw new Error("positions are searched without a request");
  const { organizer, searchOnly, search } = asked;
  const places = await listPlaces.require({ organizer, lists, among: among?.slugs });
  if (searchOnly && !isSelective(search)) return { found: [], count: 0, page: cutPage(asked, 0).page };
  return reads.inTurn(organizer, async (db) => {
    const opened = [];
    for (const place of places) {
      const request = { ...asked, ...place };
      opened.push({ request, ...(await readRequest(db, request, deps)) });
    }
    // An id of one event is unknown to the others.
    const known = opened.filter(({ unknown }) => unknown === undefined);
    const [first] = opened;
    if (known.length === 0 && first?.unknown !== undefined) throw first.unknown;
    const ofLists = [];
    for (const list of known) ofLists.push({ ...list, first: await findOn(db, list, 1) });
    const counts = ofLists.map(({ first }) => first.count);
    const { page, limit, offset } = cutPage(asked, sum(counts));
    const found: PositionsOfEvent[] = [];
    for (const [index, list] of ofLists.entries()) {
      const before = sum(counts.slice(0, index));
      const from = Math.max(0, offset - before);
      const to = Math.min(list.first.count, offset + limit - before);
      if (from >= to) continue;
      const tickets = await cutFrom(db, list, { from, to, limit });
      found.push({ event: list.request.event, ...(await showTickets(db, list.request, { ...list, tickets })) });
    }
    return { found, count: sum(counts), page };
  });
}

type Db = Parameters<typeof findTickets>[0];

interface OpenedList extends Pick<Awaited<ReturnType<typeof readRequest>>, "filter" | "scanned"> {
  readonly request: ListPositionsRequest;
}

type FoundTickets = Awaited<ReturnType<typeof findTickets>>;

function findOn(db: Db, { request, filter, scanned }: OpenedList, page: number): Promise<FoundTickets> {
  const { ordering, pageSize } = request;
  return findTickets(db, filter, { ordering, page, pageSize, scanned });
}

/** Reads no more tickets than a page has; they may begin in the middle of one. */
async function cutFrom(
  db: Db,
  list: OpenedList & { readonly first: FoundTickets },
  { from, to, limit }: { readonly from: number; readonly to: number; readonly limit: number },
): Promise<FoundTickets["tickets"]> {
  const [firstPage, lastPage] = [Math.floor(from / limit) + 1, Math.ceil(to / limit)];
  const tickets = [];
  for (let page = firstPage; page <= lastPage; page += 1) {
    tickets.push(...(page === 1 ? list.first : await findOn(db, list, page)).tickets);
  }
  const start = (firstPage - 1) * limit;
  return tickets.slice(from - start, to - start);
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
