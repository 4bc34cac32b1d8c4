/** A column of values for `unnest`. A column of nulls is sent as null: beside longer columns `unnest` fills it with nulls. */
export function sparseColumn<T>(values: readonly (T | null | undefined)[]): (T | null)[] | null {
  return values.some((value) => value !== null && value !== undefined) ? values.map((value) => value ?? null) : null;
}
