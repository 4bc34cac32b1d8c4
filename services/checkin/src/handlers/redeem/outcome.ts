import type { ArrivedScan, Verdict as VerdictOn } from "@tessera/admission";
import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { KeptAnswer } from "../../domain/kept-answer.ts";
import type { PastCheckin } from "../../domain/past-scan.ts";
import type { ScanRead } from "../../store/scan-reads.ts";
import { mostCheckins } from "../../store/ticket-rows.ts";
import { encodeGivenAnswer, withGivenAnswers } from "../../wire/answers.ts";
import { decodePosition, toListedPosition } from "../../wire/position-messages.ts";
import type { MatchedTicket } from "./read-scans.ts";

export interface DecidedScan {
  readonly scan: ArrivedScan;
  readonly read: ScanRead;
  readonly verdict: VerdictOn<MatchedTicket>;
}

const bare = { list: undefined, position: undefined, checkinTexts: [] };

export const unknownList: ScanOutcome = { outcome: { $case: "unknownList", value: {} }, ...bare };

/** The scan could not be decided; the device may send it again with its nonce. */
export const undecided: ScanOutcome = { outcome: { $case: "undecided", value: {} }, ...bare };

/** Too many scans are in the queue. Nothing is stored. */
export const crowded: ScanOutcome = { outcome: { $case: "crowded", value: {} }, ...bare };

type Verdict = DecidedScan["verdict"];

export function refusalOf(
  verdict: Verdict,
): { readonly reason: string; readonly explanation: string | null } | undefined {
  if (verdict.outcome === "refused") return { reason: verdict.reason, explanation: verdict.explanation };
  if (verdict.outcome !== "unknown_ticket") return undefined;
  return { reason: verdict.isRevoked ? "revoked" : "invalid", explanation: verdict.explanation };
}

/** Converts a decision to its message; the position shows the scan itself, once it is stored. */
export function toOutcome(decided: DecidedScan, { isStored = true } = {}): ScanOutcome {
  const { scan, read, verdict } = decided;
  const list = {
    id: scan.list,
    event: scan.event,
    name: read.list.name,
    subevent: read.list.subevent ?? undefined,
    includePending: read.list.includePending,
  };
  const outcome = outcomeOf(verdict);
  if (verdict.outcome === "unknown_ticket") return { outcome, list, position: undefined, checkinTexts: [] };
  const { match } = verdict;
  // A revoked code reveals nothing about the ticket that had it.
  const isRevoked = verdict.outcome === "refused" && verdict.reason === "revoked";
  const texts = isRevoked
    ? []
    : [match.position.order?.checkinText, match.found.item.variationText, match.found.item.itemText];
  return {
    outcome,
    list,
    position: toListedPosition({
      list: scan.list,
      position: withGivenAnswers(match.position, justGiven(verdict)),
      ticket: match.ticket,
      parent: match.found.parentState === null ? undefined : decodePosition(match.found.parentState),
      item: match.found.item,
      downloads: read.downloads,
      checkins:
        verdict.outcome === "admitted" && isStored ? withNewScan(match.found.checkins, decided) : match.found.checkins,
    }),
    checkinTexts: texts.filter((text): text is string => text !== undefined && text !== null && text !== ""),
  };
}

function outcomeOf(verdict: Verdict): ScanOutcome["outcome"] {
  switch (verdict.outcome) {
    case "admitted":
    case "repeated":
      return { $case: "admitted", value: {} };
    case "incomplete":
      return { $case: "incomplete", value: { questions: documentsOf(verdict) } };
    case "exchange": {
      const { terms, explanation } = verdict;
      return { $case: "exchange", value: { mediaPolicy: terms.policy, mediaType: terms.type, explanation } };
    }
    case "refused":
      return { $case: "refused", value: { reason: verdict.reason, explanation: verdict.explanation ?? undefined } };
    case "unknown_ticket": {
      const explanation = verdict.explanation ?? undefined;
      // There is no ticket to show, but the code is known.
      if (verdict.isRevoked) return { $case: "refused", value: { reason: "revoked", explanation } };
      return { $case: "unknownTicket", value: { explanation } };
    }
  }
}

/** An answer given by this scan is newer than everything that is stored. */
function justGiven(verdict: Verdict): Pick<KeptAnswer, "revision" | "state">[] {
  if (!("given" in verdict)) return [];
  return verdict.given.map((given) => ({ revision: Number.MAX_SAFE_INTEGER, state: encodeGivenAnswer(given) }));
}

/** The client gets the questions as JSON; their parsed form is for decisions. */
function documentsOf({ missing }: Extract<Verdict, { outcome: "incomplete" }>): Uint8Array[] {
  return missing.map(({ document }) => new TextEncoder().encode(document));
}

/** Inserts the scan that has just been stored: newest first, the last to arrive before its equals. */
function withNewScan(earlier: readonly PastCheckin[], { scan, read }: DecidedScan): PastCheckin[] {
  const checkin: PastCheckin = {
    id: read.scanId,
    at: scan.at,
    type: scan.type,
    gate: scan.gate,
    device: null,
    deviceId: scan.deviceId,
    autoCheckedIn: false,
  };
  const newer = earlier.filter((other) => other.at > scan.at);
  return [...newer, checkin, ...earlier.slice(newer.length)].slice(0, mostCheckins);
}
