export type ScanType = "entry" | "exit";

/** What a gate knows about one request: certain success, certain refusal, certainly no effect, or nothing certain. */
export type Outcome =
  | { readonly kind: "admitted" }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "not_done"; readonly why: string }
  | { readonly kind: "unknown"; readonly why: string };

/** A ticket on a list, that one gate wants to check in or out. */
export interface Scan {
  readonly gate: number;
  /** Stays the same however often the scan has to be sent. */
  readonly nonce: string;
  readonly list: number;
  readonly position: number;
  readonly type: ScanType;
}

/** One request about a scan. The instants are milliseconds on one clock. */
export interface Attempt {
  readonly scan: Scan;
  /** The address, if a check needs it. */
  readonly baseUrl?: string;
  readonly invokedAt: number;
  readonly endedAt: number;
  readonly outcome: Outcome;
}

/** A scan with all its requests and answers. */
export interface Course {
  readonly scan: Scan;
  readonly attempts: number;
  readonly from: number;
  readonly to: number;
  /** Undefined: no answer was certain. */
  readonly known: "admitted" | "refused" | "not_done" | undefined;
  readonly reason: string | undefined;
}

/** Collects the attempts of each scan. */
export function toCourses(attempts: readonly Attempt[]): Course[] {
  return [...Map.groupBy(attempts, ({ scan }) => scan.nonce).values()].map((all): Course => {
    const [first] = all as [Attempt, ...Attempt[]];
    const certain = all.find(({ outcome }) => outcome.kind === "admitted" || outcome.kind === "refused");
    const outcome = certain?.outcome;
    const isNotDone = all.every(({ outcome: { kind } }) => kind === "not_done");
    return {
      scan: first.scan,
      attempts: all.length,
      from: Math.min(...all.map(({ invokedAt }) => invokedAt)),
      // A scan without a certain outcome may still have any effect.
      to: certain === undefined ? Number.POSITIVE_INFINITY : certain.endedAt,
      known:
        outcome?.kind === "admitted" || outcome?.kind === "refused" ? outcome.kind : isNotDone ? "not_done" : undefined,
      reason: outcome?.kind === "refused" ? outcome.reason : undefined,
    };
  });
}

/** A key for what at most one scan at a time may change. */
export function placeOf({ list, position }: { readonly list: number; readonly position: number | null }): string {
  return `list ${list}, position ${position}`;
}
