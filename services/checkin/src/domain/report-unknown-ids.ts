import { unknownId } from "@tessera/values";

const mostReported = 50;

/** Reports each of these ids as unknown to the event; beyond a limit only their number. */
export function reportUnknownIds(ids: readonly number[], what: string): string[] {
  const reported = ids.slice(0, mostReported).map((id) => unknownId(id, what));
  return ids.length > reported.length ? [...reported, `and ${ids.length - reported.length} more`] : reported;
}
