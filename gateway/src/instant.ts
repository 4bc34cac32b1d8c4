/** Writes an instant as the API shows it: UTC with `Z`, the fraction only when it is not zero. */
export function formatInstant(instant: number): string {
  const seconds = Math.floor(instant / 1_000_000);
  const micros = instant - seconds * 1_000_000;
  const whole = new Date(seconds * 1000).toISOString().slice(0, -5);
  return micros === 0 ? `${whole}Z` : `${whole}.${String(micros).padStart(6, "0")}Z`;
}

/** The same for a field that may be empty. */
export function formatNullableInstant(instant: number | undefined): string | null {
  return instant === undefined ? null : formatInstant(instant);
}
