import type { MediaTerms, MediumAnswer } from "@tessera/admission";

/** What our copies know of a medium that a visitor brings for a ticket. */
export interface KnownMedium {
  readonly active: boolean;
  /** In microseconds since 1970; null: never. */
  readonly expires: number | null;
  /** It stands for another ticket of the event and the date, which is not canceled. */
  readonly isTaken: boolean;
}

/** Foresees what boxoffice would say of a medium, for a ticket that has no other: it judges alike, and knows of media first. */
export function foreseeLink({
  policy,
  medium,
  isTicketCode,
  now,
}: {
  readonly policy: MediaTerms["policy"];
  /** Undefined: none has the code. */
  readonly medium: KnownMedium | undefined;
  readonly isTicketCode: boolean;
  readonly now: number;
}): MediumAnswer["result"] {
  if (isTicketCode) return "invalid";
  if (medium === undefined) return policy === "reuse" ? "invalid" : "linked";
  if (policy === "new") return "exists";
  if (!medium.active || (medium.expires !== null && medium.expires <= now)) return "invalid";
  return medium.isTaken ? "exists" : "linked";
}
