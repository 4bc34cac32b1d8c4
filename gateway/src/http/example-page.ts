/** The address of the organizer of the demo that examples are about. */
export const exampleOrganizer = "http://localhost:8000/api/v1/organizers/demo";

/** The address of its event. */
export const exampleEvent = `${exampleOrganizer}/events/conference`;

/** A page of a list that has no other. */
export function examplePage(...results: readonly object[]) {
  return { count: results.length, next: null, previous: null, results };
}

/** The first page of a longer list of the event. */
export function exampleFirstPage(
  results: readonly object[],
  { count, next }: { readonly count: number; readonly next: string },
) {
  return { count, next: `${exampleEvent}/${next}`, previous: null, results };
}
