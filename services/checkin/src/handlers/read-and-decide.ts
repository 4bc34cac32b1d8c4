import type { Db } from "@tessera/kit/pg/database";
import type { Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { Scan } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { decideScan, type Verdict } from "../domain/decide-scan.ts";
import { readQuestion } from "../domain/questions/question.ts";
import { readRules } from "../domain/rules/read-rules.ts";
import type { Match } from "../domain/ticket.ts";
import { findOtherMeanings, noMeaning, type OtherMeaning } from "../store/other-codes.ts";
import { type FoundTicket, findReplayed, readForScans, type ScanLookup, type ScanRead } from "../store/scan-reads.ts";
import { toSentAnswers, toStoredAnswers, withGivenAnswers } from "../wire/answers.ts";
import { decodePosition, toScanType, toTicket } from "../wire/positions.ts";
import { toStorable } from "./scan-outcomes.ts";

/** A scan with what is known of its arrival. */
export interface ArrivedScan {
  readonly scan: Scan;
  /** When it was scanned: what the device says, else when it arrived. */
  readonly at: number;
  readonly traceparent: string | undefined;
  /** Its ticket may have been sold so lately that it is not here: nobody was asked yet. */
  readonly mayBeNew: boolean;
}

/** A ticket that may be meant, with what its answer needs. */
export interface MatchedTicket extends Match {
  readonly position: Position;
  readonly read: FoundTicket;
}

export interface DecidedScan extends ArrivedScan {
  readonly read: ScanRead;
  readonly verdict: Verdict<MatchedTicket>;
}

/** A scan that could not be decided by what was read, which is nobody else's fault. */
export interface Undecidable {
  readonly error: unknown;
}

type Decision = DecidedScan | Undecidable | undefined;

/**
 * Decides each scan by one read for all of them; undefined where the event has
 * no such list. Codes that are no ticket's take two reads more: for what else
 * they stand for, and for the tickets they lead to.
 */
export async function readAndDecide(db: Db, arrived: readonly ArrivedScan[]): Promise<Decision[]> {
  const lookups = arrived.map(({ scan }) => toLookup(scan));
  const reads = await readForScans(db, lookups);
  const decisions = arrived.map((scan, index) => tryToDecide(scan, reads[index], noMeaning));
  const lost = arrived.flatMap((scan, index) => {
    const lookup = lookups[index];
    const read = reads[index];
    const decision = decisions[index];
    const isUnknown = decision !== undefined && "verdict" in decision && decision.verdict.outcome === "unknown_ticket";
    return isUnknown && lookup !== undefined && read !== undefined ? [{ scan, index, lookup, read }] : [];
  });
  if (lost.length === 0) return decisions;
  const codes = lost.map(({ scan: { scan, at }, lookup }) => ({ ...lookup, sourceType: scan.sourceType, at }));
  const repeatable = codes.filter(({ nonce }) => nonce !== null);
  // A scan that succeeded once succeeds again, even where no ticket answers to its code any more.
  const [others, found] = await Promise.all([
    findOtherMeanings(db, codes),
    repeatable.length === 0 ? [] : findReplayed(db, repeatable),
  ]);
  const replayed = codes.map((code) => found[repeatable.indexOf(code)]);
  const again = lost.map(({ lookup }, order) => {
    const ticketId = replayed[order] ?? lookup.ticketId;
    return { ...lookup, ticketId, linked: others[order]?.linked ?? null };
  });
  const known = again.flatMap((lookup, order) =>
    lookup.linked !== null || replayed[order] !== undefined ? [{ lookup, order }] : [],
  );
  const readAgain =
    known.length === 0
      ? []
      : await readForScans(
          db,
          known.map(({ lookup }) => lookup),
        );
  const reread = new Map(known.map(({ order }, index) => [order, readAgain[index]]));
  for (const [order, { scan, index, read }] of lost.entries()) {
    decisions[index] = tryToDecide(scan, reread.get(order) ?? read, others[order] ?? noMeaning);
  }
  return decisions;
}

function toLookup(scan: Scan): ScanLookup {
  const { lookup } = scan;
  // Postgres stores no NUL, so no ticket has such a code.
  const code = lookup.includes("\0") ? null : lookup;
  const isId = !scan.untrustedInput && /^\d{1,16}$/.test(lookup) && Number.isSafeInteger(Number(lookup));
  return {
    organizer: scan.organizer,
    event: scan.event,
    list: scan.list,
    code,
    codeWithBlanks: code?.includes("+") ? code.replaceAll("+", " ") : null,
    ticketId: isId ? Number(lookup) : null,
    nonce: scan.nonce === undefined ? null : toStorable(scan.nonce),
    linked: null,
  };
}

/** What a single ticket, question or list makes impossible must not fail those that arrived with it. */
function tryToDecide(arrived: ArrivedScan, read: ScanRead | undefined, other: OtherMeaning): Decision {
  try {
    return decide(arrived, read, other);
  } catch (error) {
    return { error };
  }
}

function decide(arrived: ArrivedScan, read: ScanRead | undefined, other: OtherMeaning): DecidedScan | undefined {
  if (read === undefined) return undefined;
  const { scan, at } = arrived;
  const { force, ignoreUnpaid, canceledSupported, questionsSupported } = scan;
  const verdict = decideScan(
    {
      type: toScanType(scan.type),
      at,
      gate: scan.gate ?? null,
      force,
      ignoreUnpaid,
      canceledSupported,
      questionsSupported,
      answers: toSentAnswers(scan.answers),
    },
    {
      list: read.list,
      rules: readRules(read.list.rules),
      timezone: read.timezone,
      locale: read.locale,
      matches: read.tickets.map((found) => toMatch(found, { asks: scan.type !== ScanType.EXIT })),
      isMediumElsewhere: other.isMediumElsewhere,
      isRevoked: other.isRevoked,
    },
  );
  const isStranger = read.tickets.length === 0 && !other.isMediumElsewhere && !other.isRevoked;
  const mayBeNew = arrived.mayBeNew && isStranger;
  return { ...arrived, mayBeNew, read, verdict };
}

function toMatch(found: FoundTicket, { asks }: { readonly asks: boolean }): MatchedTicket {
  const position = withGivenAnswers(decodePosition(found.state), found.given);
  const ticket = toTicket(position);
  const { foundBy, hasNonce, presence, dates, checkins } = found;
  const questions = asks ? found.questions : [];
  return {
    ticket: { ...ticket, blocked: ticket.blocked || found.hasBlockedCode },
    foundBy,
    hasNonce,
    presence,
    scans: checkins,
    dates,
    questions: questions.map(readQuestion),
    answers: questions.length === 0 ? nothingKnown : toStoredAnswers(position.answers),
    position,
    read: found,
  };
}

const nothingKnown: ReadonlyMap<number, never> = new Map<number, never>();
