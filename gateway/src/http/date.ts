const form =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d GMT$/;

/**
 * Reads a date of HTTP as an instant. Anything else is undefined, and to be ignored: clients in the field send back what
 * they made of an earlier answer, also as their platform writes dates.
 */
export function parseHttpDate(text: string): number | undefined {
  const milliseconds = form.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(milliseconds) ? undefined : milliseconds * 1000;
}

/** Writes an instant as a date of HTTP, in whole seconds. */
export function formatHttpDate(instant: number): string {
  return new Date(instant / 1000).toUTCString();
}
