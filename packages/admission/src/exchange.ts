import type { ArrivedScan } from "./arrived-scan.ts";
import type { BroughtMedium, MediaTerms } from "./media-terms.ts";
import type { Match } from "./ticket.ts";

type ExchangeRefusal = "already_exchanged" | "medium_invalid" | "medium_exists";

export type ExchangeVerdict =
  /** The ticket is not exchanged, or it was. */
  | { readonly outcome: "done" }
  | { readonly outcome: "refused"; readonly reason: ExchangeRefusal }
  /** The visitor has to bring a medium. */
  | { readonly outcome: "wanted"; readonly terms: MediaTerms }
  /** Boxoffice has to link the medium first. */
  | { readonly outcome: "brought"; readonly terms: MediaTerms; readonly medium: BroughtMedium };

const done = { outcome: "done" } as const;

/** Judges whether a ticket that comes in by its own code has to be exchanged for a medium first. */
export function judgeExchange(
  scan: ArrivedScan,
  { isMediumEnforced }: { readonly isMediumEnforced: boolean },
  { ticket, foundBy, mediaTerms: terms, media }: Match,
): ExchangeVerdict {
  if (terms === null || scan.force || foundBy === "medium") return done;
  const { medium } = scan;
  const answer = medium?.answer;
  const result = answer?.ticket === ticket.id && answer.event === scan.event ? answer.result : undefined;
  const inUse = media.filter(({ expires }) => expires === null || expires > scan.at);
  const isOfTicket = medium?.type === terms.type && inUse.some(({ identifier }) => identifier === medium.identifier);
  if (result === "linked" || isOfTicket) return done;
  if (inUse.length > 0 || result === "other") return isMediumEnforced ? refused("already_exchanged") : done;
  if (medium === null) return { outcome: "wanted", terms };
  if (medium.type !== terms.type || result === "invalid") return refused("medium_invalid");
  if (result === "exists") return refused("medium_exists");
  return { outcome: "brought", terms, medium };
}

function refused(reason: ExchangeRefusal): ExchangeVerdict {
  return { outcome: "refused", reason };
}
