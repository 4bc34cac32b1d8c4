/** A medium as it is before a ticket is linked to it. */
export interface MediumBefore {
  readonly active: boolean;
  /** In microseconds since 1970; null: never. */
  readonly expires: number | null;
  readonly isLinked: boolean;
  readonly links: number;
  /** It stands for another ticket of the event and the date, which may be used: a scan of it would be ambiguous. */
  readonly isTaken: boolean;
}

/** What becomes of a ticket that is to be exchanged for a medium. */
export type LinkVerdict = "linked" | "link" | "make" | "invalid" | "exists" | "other";

/** No record has more links. */
export const mostLinks = 10_000;

/** Judges an exchange. A medium that the ticket has already comes first: the answer to its link may have been lost. */
export function judgeLink({
  policy,
  medium,
  hasOther,
  isTicketCode,
  now,
}: {
  readonly policy: string;
  /** Undefined: none has the code. */
  readonly medium: MediumBefore | undefined;
  /** The ticket has another medium of this type that is in use. */
  readonly hasOther: boolean;
  /** A ticket of the event has the code: a scan of it would mean that ticket. */
  readonly isTicketCode: boolean;
  readonly now: number;
}): LinkVerdict {
  const isInUse = medium?.active === true && (medium.expires === null || medium.expires > now);
  if (isInUse && medium.isLinked) return "linked";
  if (hasOther) return "other";
  if (isTicketCode) return "invalid";
  if (medium === undefined) return policy === "reuse" ? "invalid" : "make";
  if (policy === "new") return "exists";
  if (!isInUse || medium.links >= mostLinks) return "invalid";
  return medium.isTaken ? "exists" : "link";
}
