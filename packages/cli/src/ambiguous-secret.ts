import { printable } from "./printable.ts";

/** A secret that several tickets have. */
export interface AmbiguousSecret {
  readonly organizer: string;
  readonly event: string;
  readonly count: number;
  readonly positions: readonly { readonly order: string; readonly id: number }[];
}

/** Names the tickets, so that all but one can be given another secret. */
export function describeAmbiguous({ event, count, positions }: Omit<AmbiguousSecret, "organizer">): string {
  const named = positions.map(({ order, id }) => `${printable(order)} (${id})`).join(", ");
  return `${count} positions of ${event} share a secret and are ambiguous at the gate: ${named}${count > positions.length ? ", …" : ""}`;
}
