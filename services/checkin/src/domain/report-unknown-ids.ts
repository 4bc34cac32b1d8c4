/** Unknown ids; more of them say nothing new. */
const mostReported = 50;

/** Says of each of these ids that the event does not have it, and of very many how many there are. */
export function reportUnknownIds(ids: readonly number[], what: string): string[] {
  const reported = ids.slice(0, mostReported).map((id) => `Invalid id "${id}": this event has no such ${what}.`);
  return ids.length > reported.length ? [...reported, `and ${ids.length - reported.length} more`] : reported;
}
