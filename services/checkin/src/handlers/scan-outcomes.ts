import type { Scan, ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { countChange } from "../domain/presence.ts";
import type { KeptAnswer } from "../domain/questions/kept-answer.ts";
import type { ScanToStore } from "../store/scan-writes.ts";
import type { StoredCheckin } from "../store/ticket-rows.ts";
import { encodeGivenAnswer, withGivenAnswers } from "../wire/answers.ts";
import { decodePosition, fromScanType, toListedPosition, toScanType } from "../wire/positions.ts";
import { tellOfScan } from "../wire/scan-fact.ts";
import type { DecidedScan } from "./read-and-decide.ts";

const bare = { list: undefined, position: undefined, checkinTexts: [] };

export const unknownList: ScanOutcome = { outcome: { $case: "unknownList", value: {} }, ...bare };

/** It could not be decided; it may be sent again with its nonce. */
export const failed: ScanOutcome = { outcome: { $case: "failed", value: {} }, ...bare };

/** No ticket here answers to the code; this very object, so that nobody takes an answer for it. */
export const notHere: ScanOutcome = { outcome: { $case: "unknownTicket", value: {} }, ...bare };

/** Postgres stores no NUL. */
export function toStorable(text: string): string {
  return text.replaceAll("\0", "\u{fffd}");
}

/** Writes a decided scan as it is stored. */
export function toRow({ scan, at, traceparent, read, verdict }: DecidedScan): ScanToStore {
  const position = verdict.outcome === "unknown_ticket" ? null : verdict.match.ticket.id;
  const refusal = refusalOf(verdict);
  const fact = {
    organizer: scan.organizer,
    event: scan.event,
    scan: read.scanId,
    list: scan.list,
    position: position ?? undefined,
    type: fromScanType(toScanType(scan.type)),
    successful: refusal === undefined,
    reason: refusal?.reason,
    at,
  };
  return {
    id: read.scanId,
    organizer: scan.organizer,
    event: scan.event,
    list: scan.list,
    position,
    type: toScanType(scan.type),
    at,
    rawCode: isCodeKept(verdict, scan) ? toStorable(scan.lookup) : null,
    sourceType: scan.sourceType,
    nonce: scan.nonce === undefined ? null : toStorable(scan.nonce),
    deviceId: scan.deviceId ?? null,
    gate: scan.gate ?? null,
    forced: verdict.outcome === "admitted" ? verdict.forced : scan.force,
    forceSent: scan.force,
    refusal: refusal ?? null,
    admission:
      verdict.outcome === "admitted"
        ? { presence: verdict.presence, ...countChange(verdict.match.presence, verdict.presence) }
        : null,
    fact: { ...tellOfScan(fact), traceparent: traceparent ?? null },
  };
}

type Verdict = DecidedScan["verdict"];

/** It is needed of refusals, of what another code than the ticket's own has admitted, and to know a scan again by its nonce. */
function isCodeKept(verdict: Verdict, { nonce }: Scan): boolean {
  return verdict.outcome !== "admitted" || nonce !== undefined || ["medium", "revoked"].includes(verdict.match.foundBy);
}

function refusalOf(verdict: Verdict): { readonly reason: string; readonly explanation: string | null } | undefined {
  if (verdict.outcome === "refused") return { reason: verdict.reason, explanation: verdict.explanation };
  if (verdict.outcome !== "unknown_ticket") return undefined;
  return { reason: verdict.isRevoked ? "revoked" : "invalid", explanation: verdict.explanation };
}

/** Writes what became of a scan for whoever asked. */
export function toOutcome(decided: DecidedScan): ScanOutcome {
  const { scan, read, verdict } = decided;
  const list = {
    id: scan.list,
    name: read.list.name,
    subevent: read.list.subevent ?? undefined,
    includePending: read.list.includePending,
  };
  const outcome = outcomeOf(verdict);
  if (verdict.outcome === "unknown_ticket") return { outcome, list, position: undefined, checkinTexts: [] };
  const { match } = verdict;
  // A code that admits nobody says nothing of whoever had it.
  const isRevoked = verdict.outcome === "refused" && verdict.reason === "revoked";
  const texts = isRevoked
    ? []
    : [match.position.order?.checkinText, match.read.item.variationText, match.read.item.itemText];
  return {
    outcome,
    list,
    position: toListedPosition({
      list: scan.list,
      position: withGivenAnswers(match.position, justGiven(verdict)),
      ticket: match.ticket,
      parent: match.read.parentState === null ? undefined : decodePosition(match.read.parentState),
      item: match.read.item,
      downloads: read.downloads,
      checkins: verdict.outcome === "admitted" ? withNewScan(match.read.checkins, decided) : match.read.checkins,
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

/** What this scan has answered is newer than everything that is stored. */
function justGiven(verdict: Verdict): Pick<KeptAnswer, "revision" | "state">[] {
  if (!("given" in verdict)) return [];
  return verdict.given.map((given) => ({ revision: Number.MAX_SAFE_INTEGER, state: encodeGivenAnswer(given) }));
}

/** Questions are shown as they came; what is read of them is for decisions. */
function documentsOf({ missing }: Extract<Verdict, { outcome: "incomplete" }>): Uint8Array[] {
  return missing.map(({ document }) => new TextEncoder().encode(document));
}

/** Puts the scan that has just been stored where it belongs: newest first, the last to arrive before its equals. */
function withNewScan(earlier: readonly StoredCheckin[], { scan, at, read }: DecidedScan): StoredCheckin[] {
  const checkin: StoredCheckin = {
    id: read.scanId,
    at,
    type: toScanType(scan.type),
    gate: scan.gate ?? null,
    device: null,
    deviceId: scan.deviceId ?? null,
    autoCheckedIn: false,
  };
  const newer = earlier.filter((other) => other.at > at);
  return [...newer, checkin, ...earlier.slice(newer.length)];
}
