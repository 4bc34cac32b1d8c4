/**
 * Why a request could not be served. Closed: adding a kind changes two tables. `conflict` is a matter between two
 * changes at the same time; what contradicts what is stored is `unmet`.
 */
export type FaultKind =
  | "invalid"
  | "unauthenticated"
  | "forbidden"
  | "not_found"
  | "conflict"
  | "unmet"
  | "exhausted"
  | "unavailable"
  | "timeout";

/** Messages by dotted field path; what belongs to no single field stands under `non_field_errors`. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

export interface FaultDetails {
  readonly fields?: FieldErrors;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/**
 * A failure the caller is meant to tell apart from a crash.
 *
 * Anything else that is thrown is a bug or an outage: it crosses the wire as
 * INTERNAL without its message, and is logged at `error` where it happened.
 */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly kind: FaultKind;
  /** One of the codes of docs/faults.md, unless a peer of another version sent it. */
  readonly code: string;
  readonly fields: FieldErrors | undefined;
  readonly retryAfterMs: number | undefined;

  /** `message` is for a person: what failed and, where there is one, the remedy. It never holds a secret or personal data. */
  constructor(kind: FaultKind, code: string, message: string, more: FaultDetails = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.kind = kind;
    this.code = code;
    this.fields = more.fields;
    this.retryAfterMs = more.retryAfterMs;
  }
}

const transient: ReadonlySet<FaultKind> = new Set(["conflict", "exhausted", "unavailable", "timeout"]);

/** Whether a failure passes by itself: the same request, sent again later, may succeed. */
export function isTransient(error: unknown): error is Fault {
  return error instanceof Fault && transient.has(error.kind);
}
