const form =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d GMT$/;

/** Parses an HTTP date. Others are undefined, and ignored: some clients send dates in their platform's format. */
export function parseHttpDate(text: string): number | undefined {
  const milliseconds = form.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(milliseconds) ? undefined : milliseconds * 1000;
}

/** Formats an instant as an HTTP date, in whole seconds. */
export function formatHttpDate(instant: number): string {
  return new Date(instant / 1000).toUTCString();
}
