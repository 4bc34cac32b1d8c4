const formats = new Map<string, Intl.DateTimeFormat>();

/** Writes an instant as a wall clock of the zone shows it: `2026-11-21 18:30`. */
export function formatLocalMinute(instant: number, zone: string): string {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(instant / 1000)
      .map(({ type, value }) => [type, value]),
  );
  const date = `${(parts.get("year") ?? "").padStart(4, "0")}-${parts.get("month")}-${parts.get("day")}`;
  return `${date} ${parts.get("hour")}:${parts.get("minute")}`;
}

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      calendar: "iso8601",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
    });
    formats.set(zone, format);
  }
  return format;
}
