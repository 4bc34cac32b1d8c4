import type { IgnoredKey } from "@tessera/protos/gen/ticketing/records/v1/records";
import type { RecordErrors } from "./parse-record.ts";

/** What became of an import, as it is answered. */
export interface ImportSummary {
  readonly records: number;
  readonly accepted: number;
  readonly rejected: number;
  /** Accepted records by kind. */
  readonly kinds: Readonly<Record<string, number>>;
  /** The first of the rejected lines; their number is in `rejected`. */
  readonly errors: readonly LineError[];
  /** Whether everything accepted was visible everywhere when the import ended. */
  readonly settled: boolean;
  /** The first keys of `data` that their kind does not know, with how often they were sent. */
  readonly ignored: readonly IgnoredKey[];
  /** The first quotas, in the events that it was about, of which more is taken than there is; null where that is not known. */
  readonly overbooked: readonly OverbookedQuota[] | null;
  /** The first secrets that several tickets of such an event have; null where that is not known. */
  readonly ambiguous_secrets: readonly AmbiguousSecret[] | null;
}

/** A secret, by the tickets that have it: what it is admits. */
export interface AmbiguousSecret {
  readonly organizer: string;
  readonly event: string;
  readonly count: number;
  /** The first of them. */
  readonly positions: readonly { readonly order: string; readonly id: number }[];
}

export interface OverbookedQuota {
  readonly organizer: string;
  readonly event: string;
  readonly quota: number;
  readonly size: number;
  readonly taken: number;
}

export interface LineError {
  readonly line: number;
  /** Null where the line does not say, or says something that is no kind. */
  readonly kind: string | null;
  readonly errors: RecordErrors;
}

/** More would fill the memory of the client. */
const mostErrors = 1000;

/** They show what is misspelt; there is no end to the keys of another format. */
const mostIgnored = 100;

/** Counts what becomes of records. */
export class Tally {
  #accepted = 0;
  #rejected = 0;
  readonly #kinds = new Map<string, number>();
  readonly #errors: LineError[] = [];
  readonly #ignored = new Map<string, { kind: string; key: string; count: number }>();

  accept(kind: string): void {
    this.#accepted += 1;
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
  }

  reject(error: LineError): void {
    this.#rejected += 1;
    if (this.#errors.length < mostErrors) this.#errors.push(error);
  }

  ignore({ kind, key, count }: IgnoredKey): void {
    const name = `${kind} ${key}`;
    const known = this.#ignored.get(name);
    if (known !== undefined) known.count += count;
    else if (this.#ignored.size < mostIgnored) this.#ignored.set(name, { kind, key, count });
  }

  get accepted(): number {
    return this.#accepted;
  }

  get records(): number {
    return this.#accepted + this.#rejected;
  }

  summary(findings: Pick<ImportSummary, "settled" | "overbooked" | "ambiguous_secrets">): ImportSummary {
    return {
      records: this.records,
      accepted: this.#accepted,
      rejected: this.#rejected,
      kinds: Object.fromEntries(this.#kinds),
      // Owners answer one after the other, so the lines of one may come before those of another.
      errors: this.#errors.toSorted((one, other) => one.line - other.line),
      ignored: [...this.#ignored.values()],
      ...findings,
    };
  }
}
