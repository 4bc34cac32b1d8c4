const form =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d GMT$/;

/**
 * Reads a date of HTTP as an instant. Any other text is undefined, and callers ignore it: some clients send the date of
 * an earlier answer in the format of their platform.
 */
export function parseHttpDate(text: string): number | undefined {
  const milliseconds = form.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(milliseconds) ? undefined : milliseconds * 1000;
}

/** Writes an instant as a date of HTTP, in whole seconds. */
export function formatHttpDate(instant: number): string {
  return new Date(instant / 1000).toUTCString();
}
