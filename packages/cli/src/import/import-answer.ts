import { isObject } from "@tessera/values";
import { printable } from "../command/printable.ts";

/** The answer of the import route (rules: R7). */
export interface ImportAnswer {
  readonly records: number;
  readonly accepted: number;
  readonly rejected: number;
  readonly kinds: Readonly<Record<string, number>>;
  readonly errors: readonly {
    readonly line: number;
    readonly kind: string | null;
    readonly errors: Readonly<Record<string, readonly string[]>>;
  }[];
  /** How many of the accepted records have warnings. */
  readonly warned: number;
  readonly warnings: readonly {
    readonly line: number;
    readonly kind: string;
    readonly warnings: Readonly<Record<string, readonly string[]>>;
  }[];
  readonly settled: boolean;
  readonly ignored: readonly { readonly kind: string; readonly key: string; readonly count: number }[];
  /** Null: unknown. */
  readonly overbooked: readonly OverbookedQuota[] | null;
  /** Null: unknown. */
  readonly ambiguous_secrets: readonly AmbiguousSecret[] | null;
}

/** Distinguishes the platform's answer from that of another server. */
export function isImportAnswer(body: unknown): body is ImportAnswer {
  return isObject(body) && Array.isArray(body["errors"]) && Array.isArray(body["warnings"]) && isObject(body["kinds"]);
}

export interface OverbookedQuota {
  readonly organizer: string;
  readonly event: string;
  readonly quota: number;
  readonly size: number;
  readonly taken: number;
}

/** A secret that several tickets have. */
export interface AmbiguousSecret {
  readonly organizer: string;
  readonly event: string;
  readonly count: number;
  readonly positions: readonly { readonly order: string; readonly id: number }[];
}

export const notSettled = "Not every service has caught up yet; the records are stored and will appear.";

/** Names the tickets, so that all but one can get another secret. */
export function describeAmbiguous({ event, count, positions }: AmbiguousSecret): string {
  const named = positions.map(({ order, id }) => `${printable(order)} (${id})`).join(", ");
  const more = count > positions.length ? ", …" : "";
  return `${count} positions of ${event} share a secret and are ambiguous at the gate: ${named}${more}`;
}

/** Describes errors of a record in one line: `item: is required; price: …`. */
export function describeErrors(errors: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(errors)
    .map(([field, messages]) => `${field}: ${messages.join(" ")}`)
    .join("; ");
}
