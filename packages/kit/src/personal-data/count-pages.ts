/** How many rows are read at a time: so few that requests wait for milliseconds while they are decoded. */
const limit = 200;

/** Counts the rows that hold something of each kind, page by page, in the order of their ids. */
export async function countPages<R extends { readonly id: number }>(
  read: (page: { readonly after: number; readonly limit: number }) => Promise<readonly R[]>,
  kindsIn: (row: R) => Iterable<string>,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (let after: number | undefined = 0; after !== undefined; ) {
    const rows: readonly R[] = await read({ after, limit });
    for (const row of rows) for (const kind of kindsIn(row)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    after = rows.length < limit ? undefined : rows.at(-1)?.id;
  }
  return counts;
}
