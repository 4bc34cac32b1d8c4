import { type Sql, sql } from "@tessera/kit/pg/sql";

/** Aggregates a column of whole numbers as one text: for thousands of numbers faster than rows or an array. */
export function packed(column: Sql): Sql {
  return sql`coalesce(string_agg(${column}::text, ','), '')`;
}

export function unpack(text: string): number[] {
  return text === "" ? [] : text.split(",").map(Number);
}

/** Binds thousands of whole numbers as one text. */
export function bindPacked(numbers: readonly number[]): Sql {
  return sql`${`{${numbers.join(",")}}`}::bigint[]`;
}
