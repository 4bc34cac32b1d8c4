/**
 * Why a request could not be served. Closed: adding a kind changes two tables. A `conflict` is between two changes at
 * the same time, and passes by itself: a consumer waits for it. A contradiction to stored data is `unmet` or `invalid`.
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

/** Messages by dotted field path; `non_field_errors` has those that belong to no single field. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** Puts the errors of the elements of a list under `<index>.<field>`. */
export function errorsByIndex(ofEach: readonly FieldErrors[]): FieldErrors {
  return Object.fromEntries(
    ofEach.flatMap((ofOne, index) => Object.entries(ofOne).map(([name, messages]) => [`${index}.${name}`, messages])),
  );
}

export interface FaultDetails {
  readonly fields?: FieldErrors;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/**
 * A failure that the caller handles, as opposed to a bug.
 *
 * Any other error is a bug or an outage: its caller gets INTERNAL without its message, and it is logged at `error` where
 * it happened.
 */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly kind: FaultKind;
  /** A code of docs/faults.md; a peer of another version may send others. */
  readonly code: string;
  readonly fields: FieldErrors | undefined;
  readonly retryAfterMs: number | undefined;

  /** `message` is for people: what failed, and the remedy if there is one. It never has a secret or personal data. */
  constructor(kind: FaultKind, code: string, message: string, more: FaultDetails = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.kind = kind;
    this.code = code;
    this.fields = more.fields;
    this.retryAfterMs = more.retryAfterMs;
  }
}

const transient: ReadonlySet<FaultKind> = new Set(["conflict", "exhausted", "unavailable", "timeout"]);

/** Whether a failure passes by itself, so that the same request may succeed later. */
export function isTransient(error: unknown): error is Fault {
  return error instanceof Fault && transient.has(error.kind);
}

/** Whether a failure is a time limit, which the same work may well run into again. */
export function isTimeout(error: unknown): error is Fault {
  return error instanceof Fault && error.kind === "timeout";
}
