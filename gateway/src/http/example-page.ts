export const exampleOrganizer = "http://localhost:8000/api/v1/organizers/demo";

export const exampleEvent = `${exampleOrganizer}/events/conference`;

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
