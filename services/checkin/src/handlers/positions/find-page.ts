import { createHash } from "node:crypto";
import { cutPage } from "@tessera/kit/lists/cut-page";
import type { Queryable } from "@tessera/kit/pg/database";
import { countPositions } from "../../store/count-positions.ts";
import { isSearch, type PositionFilter } from "../../store/position-filter.ts";
import { findReached, idsBehind, pageIds, sortIds } from "../../store/position-pages.ts";
import { searchPositions } from "../../store/search-positions.ts";
import type { AskedPage, FoundIds } from "./find-admitted.ts";

/** A page that is requested by its number, and optionally by a keyset cursor. */
export interface SoughtPage extends AskedPage {
  readonly cursor?: string | undefined;
}

export interface FoundPage extends FoundIds {
  /** Undefined: the next page is found by its number. Null: this is the last page. */
  readonly nextCursor?: string | null | undefined;
}

/** From this many tickets on, pages use keyset pagination: the last page costs as much as the first. */
const many = 1000;

export async function findPage(tx: Queryable, filter: PositionFilter, sought: SoughtPage): Promise<FoundPage> {
  const { ordering, page: asked, pageSize } = sought;
  if (isSearch(filter)) {
    const ids = await sortIds(tx, filter, { ordering, ids: await searchPositions(tx, filter) });
    const { page, limit, offset } = cutPage({ page: asked, pageSize }, ids.length);
    return { ids: ids.slice(offset, offset + limit), count: ids.length, page };
  }
  const count = await countPositions(tx, filter);
  const place = await openCursor(tx, filter, sought);
  if (place !== undefined) {
    const { limit } = cutPage({ page: 1, pageSize }, count);
    const behind = await idsBehind(tx, filter, { ordering, place, limit: limit + 1 });
    const ids = behind.slice(0, limit);
    const nextCursor = behind.length > limit ? await makeCursor(tx, filter, { ...sought, last: ids.at(-1) }) : null;
    return { ids, count, page: asked, nextCursor };
  }
  const { page, limit, offset } = cutPage({ page: asked, pageSize }, count);
  const ids = await pageIds(tx, filter, { ordering, limit, offset, count });
  if (count <= many || offset + limit >= count) return { ids, count, page };
  return { ids, count, page, nextCursor: await makeCursor(tx, filter, { ...sought, page, last: ids.at(-1) }) };
}

/** Makes the cursor of the next page from the last ticket. Undefined: the next page is found by its number. */
async function makeCursor(
  tx: Queryable,
  filter: PositionFilter,
  { last, ...sought }: SoughtPage & { readonly last: number | undefined },
): Promise<string | undefined> {
  if (last === undefined) return undefined;
  const reached = await findReached(tx, filter, { ...sought, ticket: last });
  return reached && `${last}.${reached.stamp}.${useOf(filter, { ...sought, page: sought.page + 1 })}`;
}

/** Finds the place of a cursor in the order. Undefined: the cursor is of another request, or its ticket has changed. */
async function openCursor(tx: Queryable, filter: PositionFilter, { cursor, ...sought }: SoughtPage) {
  const ticket = Number(/^\d{1,15}(?=\.)/.exec(cursor ?? "")?.[0]);
  if (Number.isNaN(ticket)) return undefined;
  const reached = await findReached(tx, filter, { ...sought, ticket });
  const isIts = reached !== undefined && cursor === `${ticket}.${reached.stamp}.${useOf(filter, sought)}`;
  return isIts ? reached.place : undefined;
}

/** The page and the request that a cursor is valid for. */
function useOf({ list, ...filter }: PositionFilter, { ordering, page, pageSize }: AskedPage): string {
  const use = JSON.stringify([list.id, filter, ordering, page, pageSize]);
  return createHash("sha256").update(use).digest("base64url").slice(0, 8);
}
