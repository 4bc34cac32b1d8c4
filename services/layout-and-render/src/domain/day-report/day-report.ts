/** What happened at the gates on one day. */
export interface DayReport {
  readonly date: string;
  readonly timezone: string;
  readonly eventName: string;
  readonly locale: string;
  readonly listName?: string | undefined;
  readonly quarters: readonly Quarter[];
  readonly entered: number;
  readonly firstAt?: number | undefined;
  readonly lastAt?: number | undefined;
  readonly peak: number;
  readonly peakAt: number;
  readonly products: readonly Product[];
  readonly lists: readonly ScansBySource[];
  readonly gates: readonly ScansBySource[];
  readonly devices: readonly ScansBySource[];
  readonly reasons: readonly { readonly reason: string; readonly count: number }[];
}

export interface Counted {
  readonly entries: number;
  readonly exits: number;
  readonly refusals: number;
}

export interface Quarter {
  /** The time on the wall clock. */
  readonly local: string;
  readonly scans: Counted;
  readonly inside: number;
}

interface Product {
  readonly itemName?: string | undefined;
  readonly item?: number | undefined;
  readonly variationName?: string | undefined;
  readonly scans: Counted;
}

/** A list, a gate or a device. */
export interface ScansBySource {
  readonly id?: number | undefined;
  readonly name?: string | undefined;
  readonly scans: Counted;
}
