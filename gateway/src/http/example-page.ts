/** A page of a list that has no other. */
export function examplePage(...results: readonly object[]) {
  return { count: results.length, next: null, previous: null, results };
}
