import { bigint, text } from "@tessera/kit/pg/table";
import type { EventKey } from "./keys.ts";

/** The list that a scan is made on. */
export interface ListPlace extends EventKey {
  readonly list: number;
}

/** The column types for `rowsAs`. */
export const placeColumns = { organizer: text, event: text, list: bigint };

/** Deduplicates the lists of scans, since most batches are of one list; `placeOf` numbers them from 1. */
export function findPlaces(scans: readonly ListPlace[]): {
  readonly places: readonly ListPlace[];
  readonly placeOf: readonly number[];
} {
  const numbers = new Map<string, number>();
  const places: ListPlace[] = [];
  const placeOf = scans.map(({ organizer, event, list }) => {
    const name = `${organizer}/${event}/${list}`;
    const known = numbers.get(name) ?? places.push({ organizer, event, list });
    numbers.set(name, known);
    return known;
  });
  return { places, placeOf };
}
