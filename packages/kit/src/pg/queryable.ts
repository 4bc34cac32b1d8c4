import type pg from "pg";
import type { Sql } from "./sql.ts";

/** Runs statements. `Row` states the columns of the statement; the mapping to the domain is beside the query. */
export interface Queryable {
  many<Row>(statement: Sql): Promise<Row[]>;
  /** The only row. Any other number of rows is a bug. */
  one<Row>(statement: Sql): Promise<Row>;
  maybeOne<Row>(statement: Sql): Promise<Row | undefined>;
  /** The number of rows touched. */
  run(statement: Sql): Promise<number>;
}

export type Query = (statement: Sql) => Promise<pg.QueryResult>;

/** Makes the statements of one connection wait for each other: the driver's own queue is deprecated. */
export function inTurn(query: Query): Query {
  let last: Promise<unknown> = Promise.resolve();
  return (statement) => {
    const turn = last.then(() => query(statement));
    last = turn.catch(() => {});
    return turn;
  };
}

export function runner(query: Query): Queryable {
  return {
    many: async <Row>(statement: Sql) => (await query(statement)).rows as Row[],
    async one<Row>(statement: Sql) {
      const { rows } = await query(statement);
      if (rows.length !== 1) throw new Error(`expected one row, got ${rows.length}`);
      return rows[0] as Row;
    },
    async maybeOne<Row>(statement: Sql) {
      const { rows } = await query(statement);
      if (rows.length > 1) throw new Error(`expected at most one row, got ${rows.length}`);
      return rows[0] as Row | undefined;
    },
    run: async (statement) => (await query(statement)).rowCount ?? 0,
  };
}
