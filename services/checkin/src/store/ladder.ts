import type { Queryable } from "@tessera/kit/pg/database";
import { identifier, joinSql, sql } from "@tessera/kit/pg/sql";
import { type Place, toPlace, type Value } from "./places.ts";
import { divide, type Stretch } from "./position-blocks.ts";
import type { PositionFilter } from "./position-filter.ts";
import { orderBy } from "./position-order.ts";
import { type Start, selectUnsorted } from "./read-stretches.ts";

/** Places at equal distances in an order: from the one before it, a page far from both ends is soon reached. */
export interface Ladder {
  readonly distance: number;
  readonly stretches: readonly { readonly count: number; readonly rungs: readonly Place[] }[];
}

/** Reads the ladder of an order of the tickets that a filter leaves, whatever is searched. All of them are read for it. */
export async function readLadder(
  db: Queryable,
  filter: PositionFilter,
  {
    ordering,
    count,
    distance,
  }: { readonly ordering: readonly string[]; readonly count: number; readonly distance: number },
): Promise<Ladder> {
  const stretches: Ladder["stretches"][number][] = [];
  for (const stretch of await divide(db, filter, { ordering, lookup: "all", most: count }))
    stretches.push(await readRungs(db, filter, { stretch, distance, most: count }));
  return { distance, stretches };
}

async function readRungs(
  db: Queryable,
  filter: PositionFilter,
  { stretch, distance, most }: { readonly stretch: Stretch; readonly distance: number; readonly most: number },
): Promise<Ladder["stretches"][number]> {
  const names = stretch.terms.map((_, index) => identifier(`by${index}`));
  const sources = (stretch.ways({ isReversed: false, most }).at(-1) ?? []).map((source) => {
    const values = source.terms.map(({ by }, index) => sql`${by} as ${names[index] ?? by}`);
    const columns = { names: joinSql(values, ", "), from: [] };
    return selectUnsorted(filter, columns, source);
  });
  const terms = stretch.terms.map((term, index) => ({ ...term, by: sql`page.${names[index] ?? term.by}` }));
  const columns = joinSql(
    names.map((name) => sql`page.${name}`),
    ", ",
  );
  const values = stretch.terms.map(({ isInstant }, index) => {
    const name = names[index] ?? sql``;
    return isInstant === true ? sql`rung.${name}::text as ${name}` : sql`rung.${name}`;
  });
  const rows = await db.many<{ number: number; isRung: boolean } & Record<string, Value>>(sql`
    select rung.number, rung.number % ${distance} = 0 as "isRung", ${joinSql(values, ", ")}
      from (select ${columns}, row_number() over sorted as number, lead(true) over sorted is null as "isLast"
              from (${joinSql(sources, " union all ")}) as page
            window sorted as (order by ${orderBy(terms)})) as rung
     where rung.number % ${distance} = 0 or rung."isLast"
     order by rung.number`);
  return {
    count: rows.at(-1)?.number ?? 0,
    rungs: rows.filter(({ isRung }) => isRung).map((row) => toPlace(row, stretch.terms)),
  };
}

/** Finds the rung before the ticket at an offset, and how many tickets are between them. */
export function climb(
  { distance, stretches }: Ladder,
  offset: number,
): { readonly start: Start; readonly skip: number } {
  let skip = offset;
  let index = 0;
  for (const { count } of stretches.slice(0, -1)) {
    if (skip < count) break;
    skip -= count;
    index += 1;
  }
  const { rungs } = stretches[index] ?? { rungs: [] };
  const passed = Math.min(Math.floor(skip / distance), rungs.length);
  return { start: { stretch: index, place: rungs[passed - 1] }, skip: skip - passed * distance };
}

/** About how many bytes of memory a ladder takes. */
export function sizeOf({ stretches }: Ladder): number {
  return stretches.reduce((sum, { rungs }) => sum + JSON.stringify(rungs).length + 100 * rungs.length, 100);
}
