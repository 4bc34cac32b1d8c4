import type { IgnoredKey } from "@tessera/protos/gen/ticketing/records/v1/records";
import type { ImportSummary, LineError, LineWarning } from "./summary.ts";

/** The default number of listed lines: more could exhaust the memory of the client. */
export const usualErrors = 1000;

/** Ignored keys reveal misspellings. Data of another format may have any number of unknown keys. */
const mostIgnored = 100;

export type RecordOutcome = "accepted" | "rejected";

export class Tally {
  #accepted = 0;
  #rejected = 0;
  readonly #kinds = new Map<string, number>();
  readonly #errors: LineError[] = [];
  readonly #ignored = new Map<string, { kind: string; key: string; count: number }>();

  #warned = 0;
  readonly #warnings: LineWarning[] = [];
  readonly #mostErrors: number;
  readonly #onRecord: ((outcome: RecordOutcome) => void) | undefined;

  constructor({ mostErrors, onRecord }: { mostErrors: number; onRecord?: (outcome: RecordOutcome) => void }) {
    this.#mostErrors = mostErrors;
    this.#onRecord = onRecord;
  }

  accept(kind: string): void {
    this.#accepted += 1;
    this.#onRecord?.("accepted");
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
  }

  reject(error: LineError): void {
    this.#rejected += 1;
    this.#onRecord?.("rejected");
    if (this.#errors.length < this.#mostErrors) this.#errors.push(error);
  }

  warn(warning: LineWarning): void {
    this.#warned += 1;
    if (this.#warnings.length < this.#mostErrors) this.#warnings.push(warning);
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
      // Owners answer independently, so lines arrive out of order.
      errors: this.#errors.toSorted((one, other) => one.line - other.line),
      warned: this.#warned,
      warnings: this.#warnings.toSorted((one, other) => one.line - other.line),
      ignored: [...this.#ignored.values()],
      ...findings,
    };
  }
}
