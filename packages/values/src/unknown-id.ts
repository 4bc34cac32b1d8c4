/** Says of an id in a request that the event has nothing of that name; `what` may say why. */
export function unknownId(id: number, what: string): string {
  return `Invalid id "${id}": this event has no such ${what}.`;
}
