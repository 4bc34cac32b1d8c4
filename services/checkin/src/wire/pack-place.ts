import type { KindOfEvents } from "../store/synced-rows.ts";

/** What a pack has, in this order: tickets come last. */
export const packedKinds = [
  ...["event", "subevent", "item", "question", "list", "revoked", "blocked", "medium", "ticket"],
] as const satisfies readonly (KindOfEvents | "medium")[];

export type PackedKind = (typeof packedKinds)[number];

/** Where a pack goes on behind the one before. */
export interface PackPlace {
  readonly kind: PackedKind;
  /** Behind this entity. */
  readonly after: number;
  /**
   * Names the first pack of these, at random: a later one cannot be asked for before the first was begun. So later ones have all that
   * the cursor of the first contains, also those that are kept for others.
   */
  readonly chain: string;
}

export const chainBytes = 9;

export function writePackPlace({ kind, after, chain }: PackPlace): string {
  return `${kind}.${after}.${chain}`;
}

export function readPackPlace(text: string): PackPlace | undefined {
  const [, named, after, chain] = /^([a-z]+)\.(-1|\d{1,16})\.([\w-]{12})$/.exec(text) ?? [];
  const kind = packedKinds.find((known) => known === named);
  if (kind === undefined || chain === undefined || !Number.isSafeInteger(Number(after))) return undefined;
  return { kind, after: Number(after), chain };
}
