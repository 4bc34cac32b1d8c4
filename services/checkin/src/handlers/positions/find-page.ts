import { cutPage } from "@tessera/kit/cut-page";
import type { Queryable } from "@tessera/kit/pg/database";
import type { Search } from "../../domain/search-text.ts";
import { countPositions } from "../../store/count-positions.ts";
import { type Beside, idsBeside, pageIds, readPlaces, sortIds } from "../../store/listed-positions.ts";
import { isSearch, type PositionFilter } from "../../store/position-filter.ts";
import { searchPositions } from "../../store/search-positions.ts";
import type { AskedPage, FoundIds } from "./find-admitted.ts";
import type { Ladders } from "./ladders.ts";

/** A page that is asked for by its number, and maybe by the tickets next to it, which then count. */
export interface SoughtPage extends AskedPage {
  readonly beside?: Beside | undefined;
}

/** A page, and whence the pages before and behind it are read. */
export interface FoundPage extends FoundIds {
  /** Undefined: pages follow each other by their numbers. */
  readonly neighbors?: Neighbors;
}

interface Neighbors {
  readonly next?: Neighbor;
  readonly previous?: Neighbor;
}

export interface Neighbor {
  /** Undefined: it is found by its number alone. */
  readonly beside?: Beside;
}

/** Tickets that were found. */
interface Found {
  readonly count: number;
  numbered(cut: { readonly limit: number; readonly offset: number }): Promise<readonly number[]>;
  /** The nearest ones last if they are before the place, and maybe more than the limit. */
  beside(beside: Beside, limit: number): Promise<readonly number[]>;
}

/** Of so many tickets, neighboring pages are read from their tickets: they cost as much as the first, and no ticket moves between them. */
const many = 1000;

/** Finds one page of tickets. */
export async function findPage(
  tx: Queryable,
  filter: PositionFilter,
  { ladders, ...sought }: SoughtPage & { readonly ladders: Ladders },
): Promise<FoundPage> {
  const { ordering, beside } = sought;
  const found = isSearch(filter)
    ? await findSearched(tx, filter, ordering)
    : await findListed(tx, filter, { ordering, ladders });
  const { count } = found;
  const neighbors = (ids: readonly number[], there: There) => findNeighbors(tx, filter, { ordering, ids, ...there });
  if (beside !== undefined) {
    const { page } = sought;
    const { limit } = cutPage({ ...sought, page: 1 }, count);
    const near = await found.beside(beside, limit + 1);
    const ids = beside.isBefore ? near.slice(-limit) : near.slice(0, limit);
    const isMore = near.length > limit;
    const there = { page, hasNext: beside.isBefore || isMore, hasPrevious: !beside.isBefore || isMore };
    return { ids, count, page, neighbors: await neighbors(ids, there) };
  }
  const { page, limit, offset } = cutPage(sought, count);
  const ids = await found.numbered({ limit, offset });
  if (count <= many) return { ids, count, page };
  const there = { page, hasNext: offset + limit < count, hasPrevious: page > 1 };
  return { ids, count, page, neighbors: await neighbors(ids, there) };
}

async function findSearched(
  tx: Queryable,
  filter: PositionFilter & { readonly search: Search },
  ordering: readonly string[],
): Promise<Found> {
  const ids = await searchPositions(tx, filter);
  const sorted = await sortIds(tx, filter, { ordering, ids });
  return {
    count: sorted.length,
    numbered: async ({ limit, offset }) => sorted.slice(offset, offset + limit),
    beside: (beside) => sortIds(tx, filter, { ordering, ids, beside }),
  };
}

/** A page so far from both ends of a list is reached by a ladder. */
const deep = 5000;

async function findListed(
  tx: Queryable,
  filter: PositionFilter,
  { ordering, ladders }: { readonly ordering: readonly string[]; readonly ladders: Ladders },
): Promise<Found> {
  const count = await countPositions(tx, filter);
  return {
    count,
    async numbered(cut) {
      const isDeep = Math.min(cut.offset, count - cut.offset) > deep;
      const ladder = isDeep ? await ladders.find(tx, filter, { ordering, count }) : undefined;
      return pageIds(tx, filter, { ...cut, ordering, count, ladder });
    },
    beside: (beside, limit) => idsBeside(tx, filter, { ...beside, ordering, limit, count }),
  };
}

/** Whether there are pages beside one. */
interface There {
  readonly page: number;
  readonly hasNext: boolean;
  readonly hasPrevious: boolean;
}

async function findNeighbors(
  tx: Queryable,
  filter: PositionFilter,
  {
    ordering,
    ids,
    page,
    hasNext,
    hasPrevious,
  }: There & Pick<AskedPage, "ordering"> & { readonly ids: readonly number[] },
): Promise<Neighbors> {
  const [first, last] = [ids[0], ids.at(-1)];
  if (first === undefined || last === undefined) return page > 1 ? { previous: {} } : {};
  const places = await readPlaces(tx, filter, { ordering, ids: [first, last] });
  const [start, end] = [places.get(first), places.get(last)];
  return {
    ...(hasNext && { next: end === undefined ? {} : { beside: { place: end, isBefore: false } } }),
    // The first page is that of the list as it is now.
    ...(hasPrevious &&
      page > 1 && { previous: page === 2 || start === undefined ? {} : { beside: { place: start, isBefore: true } } }),
  };
}
