import type { Db } from "@tessera/kit/pg/database";
import type { Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import type { ArrivedScan } from "../../domain/arrived-scan.ts";
import type { Circumstances } from "../../domain/decide-scan.ts";
import type { Question } from "../../domain/questions/question.ts";
import type { Match } from "../../domain/ticket.ts";
import type { Readers } from "../../readers.ts";
import { findOtherMeanings, noMeaning } from "../../store/other-codes.ts";
import { type FoundTicket, findReplayed, readForScans, type ScanRead } from "../../store/scan-reads.ts";
import { toStoredAnswers, withGivenAnswers } from "../../wire/answers.ts";
import { decodePosition, toTicket } from "../../wire/positions.ts";

/** A ticket that may be meant, with what its answer needs. */
export interface MatchedTicket extends Match {
  readonly position: Position;
  readonly found: FoundTicket;
}

/** A scan with a code of no ticket, with what was read for it. */
export interface UnknownScan {
  readonly scan: ArrivedScan;
  readonly read: ScanRead;
}

/**
 * Reads what else the codes mean, and the tickets they lead to, in two statements for all of them. A scan that
 * succeeded once succeeds again, even where no ticket has its code any more.
 */
export async function readOtherMeanings(db: Db, unknown: readonly UnknownScan[]): Promise<ScanRead[]> {
  if (unknown.length === 0) return [];
  const scans = unknown.map(({ scan }) => scan);
  const repeatable = scans.filter(({ nonce }) => nonce !== null);
  const [meanings, replayed] = await Promise.all([
    findOtherMeanings(db, scans),
    repeatable.length === 0 ? [] : findReplayed(db, repeatable),
  ]);
  const lookups = unknown.flatMap(({ scan }, index) => {
    const linked = meanings[index]?.linked ?? null;
    const ticketId = replayed[repeatable.indexOf(scan)];
    return linked === null && ticketId === undefined
      ? []
      : [{ index, lookup: { ...scan, ticketId: ticketId ?? scan.ticketId, linked } }];
  });
  const reads = await readForScans(
    db,
    lookups.map(({ lookup }) => lookup),
  );
  const readOf = new Map(lookups.map(({ index }, order) => [index, reads[order]]));
  return unknown.map(({ read }, index) => {
    const { isMediumElsewhere, isRevoked } = meanings[index] ?? noMeaning;
    return { ...(readOf.get(index) ?? read), isMediumElsewhere, isRevoked };
  });
}

/** Decodes what was read for a scan. */
export function toCircumstances(
  scan: ArrivedScan,
  { read, readers }: { readonly read: ScanRead; readonly readers: Readers },
): Circumstances<MatchedTicket> {
  const { list, timezone, locale, isMediumElsewhere, isRevoked } = read;
  const questionsOf = (found: FoundTicket) => (scan.type === "entry" ? found.questions.map(readers.question) : []);
  return {
    list,
    rules: readers.rules(list.rules),
    reader: {
      zone: readers.zone(timezone),
      locale,
      habits: readers.habits(locale),
      wording: readers.wording(locale),
    },
    isMediumElsewhere,
    isRevoked,
    matches: read.tickets.map((found) => toMatch(found, questionsOf(found))),
  };
}

function toMatch(found: FoundTicket, questions: readonly Question[]): MatchedTicket {
  const position = withGivenAnswers(decodePosition(found.state), found.given);
  const ticket = toTicket(position);
  const { foundBy, hasNonce, presence, dates, ruled } = found;
  return {
    ticket: { ...ticket, blocked: ticket.blocked || found.hasBlockedCode },
    foundBy,
    hasNonce,
    presence,
    scans: ruled,
    dates,
    questions,
    answers: questions.length === 0 ? nothingKnown : toStoredAnswers(position.answers),
    position,
    found,
  };
}

const nothingKnown: ReadonlyMap<number, never> = new Map<number, never>();
