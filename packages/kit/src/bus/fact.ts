import type { Tx } from "../pg/database.ts";

/** A fact as its consumer gets it. */
export interface Fact<F> {
  readonly id: string;
  readonly key: string;
  /** When it was written, in microseconds since 1970. */
  readonly at: number;
  /** Null: a tombstone. The entity of this key is deleted. */
  readonly value: F | null;
  /** Of a tombstone whose owner sent it: states of the entity with a lower revision were before the deletion. */
  readonly deletedAt: number | undefined;
}

/** A fact that its consumer will never accept. */
export interface Refusal<F> {
  readonly fact: Fact<F>;
  /** For an operator. It names fields, never values. */
  readonly cause: string;
}

/** Acts on facts. The facts that it returns become dead letters at once; it must not have acted on them. */
export type Apply<F, D = unknown> = (
  tx: Tx,
  facts: readonly Fact<F>[],
  deps: D,
  // biome-ignore lint/suspicious/noConfusingVoidType: most consumers refuse nothing, and return nothing
) => Promise<readonly Refusal<F>[] | void>;

/** The last fact of each key: of one entity in a batch only the newest state matters. */
export function newestPerKey<F>(facts: readonly Fact<F>[]): Fact<F>[] {
  return [...new Map(facts.map((fact) => [fact.key, fact])).values()];
}
