import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { takeFacts } from "./facts.ts";
import { position, sample } from "./records.ts";

export const scan = { id: 5, list: 3, datetime: "2026-07-01T18:00:00Z", type: "entry" };
export const first = position({ seat: "stalls-1-1" });
export const second = position({ id: 2, positionid: 2, secret: "two", attendee_name: "Ada" });

/** The records of an order: as it is stored at first, with both positions but no scan, and without the second position. */
export const scanned = sample.order({ positions: [first, position({ ...second, checkins: [scan] })] });
export const both = sample.order({ positions: [first, second] });
export const withoutSecond = (rest: object = {}) => sample.order({ positions: [first], ...rest });

/** Takes the published positions since the last call. */
export async function takePositions(db: Db): Promise<Record<string, unknown>[]> {
  return (await takeFacts(db)).flatMap(({ topic, key, value }) =>
    topic === "position-changed" ? [{ key, ...(value ?? { isGone: true }) }] : [],
  );
}

/** The ids of the positions in the document of an order, and whether each is canceled; undefined: there is no order. */
export async function positionsIn(
  db: Db,
  code: string,
): Promise<(readonly [id: number, canceled: boolean])[] | undefined> {
  const order = await db.maybeOne<{ positions: { id: number; canceled: boolean }[] }>(
    sql`select "order".data -> 'positions' as positions from "order" where "order".code = ${code}`,
  );
  return order?.positions.map(({ id, canceled }) => [id, canceled]);
}
