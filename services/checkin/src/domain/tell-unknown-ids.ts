/** Unknown ids; more of them say nothing new. */
const mostTold = 50;

/** Says of each of these ids that the event does not have it, and of very many how many there are. */
export function tellUnknownIds(ids: readonly number[], what: string): string[] {
  const told = ids.slice(0, mostTold).map((id) => `Invalid id "${id}": this event has no such ${what}.`);
  return ids.length > told.length ? [...told, `and ${ids.length - told.length} more`] : told;
}
