import type { IgnoredKey } from "@tessera/protos/gen/ticketing/records/v1/records";
import type { ImportSummary, LineError, LineWarning } from "./summary.ts";

/** How many rejected lines are named unless more are wanted: more would fill the memory of the client. */
export const usualErrors = 1000;

/** They show which keys are misspelt. Data of another format may have any number of unknown keys. */
const mostIgnored = 100;

/** What became of a record. */
export type RecordOutcome = "accepted" | "rejected";

/** What is called for what an import meets. */
export interface TallyListeners {
  readonly onRecord?: (outcome: RecordOutcome) => void;
  /** A field is a path without the places of elements: `positions.tax_rate`. */
  readonly onWarning?: (about: { readonly kind: string; readonly field: string }) => void;
}

/** Counts accepted and rejected records. */
export class Tally {
  #accepted = 0;
  #rejected = 0;
  readonly #kinds = new Map<string, number>();
  readonly #errors: LineError[] = [];
  readonly #ignored = new Map<string, { kind: string; key: string; count: number }>();

  #warned = 0;
  readonly #warnings: LineWarning[] = [];
  readonly #mostErrors: number;
  readonly #listeners: TallyListeners;

  constructor({ mostErrors, ...listeners }: { mostErrors: number } & TallyListeners) {
    this.#mostErrors = mostErrors;
    this.#listeners = listeners;
  }

  accept(kind: string): void {
    this.#accepted += 1;
    this.#listeners.onRecord?.("accepted");
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
  }

  reject(error: LineError): void {
    this.#rejected += 1;
    this.#listeners.onRecord?.("rejected");
    if (this.#errors.length < this.#mostErrors) this.#errors.push(error);
  }

  warn(warning: LineWarning): void {
    this.#warned += 1;
    if (this.#warnings.length < this.#mostErrors) this.#warnings.push(warning);
    for (const path of Object.keys(warning.warnings)) {
      this.#listeners.onWarning?.({ kind: warning.kind, field: path.replaceAll(/\.\d+(?=\.|$)/g, "") });
    }
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
      // Each owner answers on its own, so lines come out of order.
      errors: this.#errors.toSorted((one, other) => one.line - other.line),
      warned: this.#warned,
      warnings: this.#warnings.toSorted((one, other) => one.line - other.line),
      ignored: [...this.#ignored.values()],
      ...findings,
    };
  }
}
