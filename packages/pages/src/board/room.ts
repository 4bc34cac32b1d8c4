import type { LiveLimit } from "./live.ts";

/** How near a list is to its limit. */
export type Room = "free" | "near" | "over_soft" | "full";

/** From this share of a limit on, a crew has to prepare. */
const nearShare = 0.9;

export function roomOf({ persons, soft_limit, hard_limit }: LiveLimit): Room {
  if (hard_limit !== null && persons >= hard_limit) return "full";
  if (soft_limit !== null && persons >= soft_limit) return "over_soft";
  const next = soft_limit ?? hard_limit;
  return next !== null && persons >= next * nearShare ? "near" : "free";
}

/** The limit that a bar is drawn up to. */
export function shownLimit({ soft_limit, hard_limit }: LiveLimit): number {
  return hard_limit ?? soft_limit ?? 1;
}
