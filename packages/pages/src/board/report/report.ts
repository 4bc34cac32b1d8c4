/** What the page reads of `checkins/report/`. */
export interface Report {
  readonly date: string;
  readonly timezone: string;
  readonly list: number | null;
  readonly totals: Counts & { readonly entered: number };
  readonly first_scan: string | null;
  readonly last_scan: string | null;
  readonly inside: { readonly at_begin: number; readonly peak: number; readonly peak_at: string };
  readonly quarters: readonly Quarter[];
  readonly products: readonly (Counts & {
    readonly item: number | null;
    readonly item_name: string | null;
    readonly variation_name: string | null;
    readonly entered: number;
  })[];
  readonly lists: readonly (Counts & { readonly list: number; readonly list_name: string | null })[];
  readonly gates: readonly (Counts & { readonly gate: number | null; readonly gate_name: string | null })[];
  readonly devices: readonly (Counts & { readonly device: number | null; readonly device_name: string | null })[];
  readonly reasons: readonly { readonly reason: string; readonly count: number }[];
}

export interface Counts {
  readonly entries: number;
  readonly exits: number;
  readonly refusals: number;
}

export interface Quarter extends Counts {
  readonly start: string;
  /** The time on the wall clock. */
  readonly local: string;
  readonly inside: number;
}

/** Whether a text of the address is a date of the calendar, which `2027-02-30` is not. */
export function isDate(text: string): boolean {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

/** The day that is so many days later on the calendar. */
export function dayAfter(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
}
