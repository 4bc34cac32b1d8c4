import type { Verdict } from "./decide-scan.ts";
import { singleOut } from "./find-ticket.ts";
import { type AdmissionTerms, coversItem } from "./list.ts";
import type { Match } from "./ticket.ts";

/** What a scan would be on one of its lists. */
export interface DecisionOnList<M extends Match> {
  readonly list: AdmissionTerms;
  readonly verdict: Verdict<M>;
}

/** The list that decides. `isAmbiguous`: tickets of several events have the code, and nothing tells which is meant. */
export interface Chosen {
  readonly index: number;
  readonly isAmbiguous: boolean;
}

/**
 * Chooses among lists of different events: the one that the scan succeeded on before, else the one whose event has the
 * ticket. Of tickets in several events the one is meant that is on its list, then the one that is valid at that time. A
 * revoked code counts only where no ticket has the code. The first list answers for an unknown code.
 */
export function chooseList<M extends Match>(decisions: readonly DecisionOnList<M>[], at: number): Chosen {
  const ranks = decisions.map(({ verdict }) => rankOf(verdict));
  const best = Math.min(...ranks);
  const found = decisions.flatMap(({ list, verdict }, index) =>
    best === byTicket && ranks[index] === best && "match" in verdict
      ? [{ index, list, verdict, ticket: verdict.match.ticket }]
      : [],
  );
  const [first] = found;
  if (first === undefined) return { index: ranks.indexOf(best), isAmbiguous: false };
  const unclear = found.find(({ verdict }) => isUnclear(verdict));
  if (unclear !== undefined) return { index: unclear.index, isAmbiguous: true };
  const meant = singleOut(found, { isOnList: ({ list, ticket }) => coversItem(list, ticket.item), at });
  return meant === undefined ? { index: first.index, isAmbiguous: true } : { index: meant.index, isAmbiguous: false };
}

const byTicket = 1;

function rankOf(verdict: Verdict<Match>): number {
  if (verdict.outcome === "repeated") return 0;
  if (verdict.outcome !== "unknown_ticket") return verdict.match.foundBy === "revoked" ? 2 : byTicket;
  if (verdict.isRevoked) return 3;
  return verdict.explanation === null ? 5 : 4;
}

/** Several tickets on one list have the code. */
function isUnclear(verdict: Verdict<Match>): boolean {
  return verdict.outcome === "refused" && verdict.reason === "ambiguous";
}
