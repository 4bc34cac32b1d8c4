/** Ids that are reported one by one. */
const mostReported = 50;

/** Reports each of these ids as unknown to the event; of very many, it counts the rest. */
export function reportUnknownIds(ids: readonly number[], what: string): string[] {
  const reported = ids.slice(0, mostReported).map((id) => `Invalid id "${id}": this event has no such ${what}.`);
  return ids.length > reported.length ? [...reported, `and ${ids.length - reported.length} more`] : reported;
}
