/** How many rows are read at a time. */
const limit = 1000;

/** Counts the rows that hold something, page by page, in the order of their ids. */
export async function countPages<R extends { readonly id: number }>(
  read: (page: { readonly after: number; readonly limit: number }) => Promise<readonly R[]>,
  holds: (row: R) => boolean,
): Promise<number> {
  let count = 0;
  for (let after: number | undefined = 0; after !== undefined; ) {
    const rows: readonly R[] = await read({ after, limit });
    count += rows.filter(holds).length;
    after = rows.length < limit ? undefined : rows.at(-1)?.id;
  }
  return count;
}
