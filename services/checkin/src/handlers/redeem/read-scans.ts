import type { ArrivedScan, Circumstances, Match, Question, Readers } from "@tessera/admission";
import type { Db } from "@tessera/kit/pg/database";
import type { Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { findOtherMeanings, noMeaning } from "../../store/other-codes.ts";
import {
  type FoundTicket,
  findReplayed,
  type Lookup,
  readForScans,
  type ScannedList,
  type ScanRead,
} from "../../store/scan-reads.ts";
import { toStoredAnswers, withGivenAnswers } from "../../wire/answers.ts";
import { decodePosition, toTicket } from "../../wire/position-messages.ts";

/** A candidate ticket, with what the answer shows of it. */
export interface MatchedTicket extends Match {
  readonly position: Position;
  readonly found: FoundTicket;
}

export interface ReadTools {
  readonly db: Db;
  /** Scans that are stored get their ids. */
  readonly withIds: boolean;
}

/** A scan with an unknown code, and what was read for it. */
export interface UnknownScan {
  readonly scan: ArrivedScan;
  readonly read: ScanRead;
}

/**
 * Reads media and revoked codes, and the tickets that they lead to, in two statements for all scans, and earlier
 * admissions by nonce in a third: a scan that succeeded once succeeds again, even where no ticket has its code any
 * more.
 */
export async function readOtherMeanings(
  { db, withIds }: ReadTools,
  unknown: readonly UnknownScan[],
): Promise<ScanRead[]> {
  if (unknown.length === 0) return [];
  const scans = unknown.map(({ scan }) => scan);
  const repeatable = scans.filter(({ nonce }) => nonce !== null);
  const [meanings, replayed] = await Promise.all([
    findOtherMeanings(db, scans),
    repeatable.length === 0 ? [] : findReplayed(db, repeatable),
  ]);
  const lookups = unknown.map(({ scan }, index) => {
    const linked = meanings[index]?.linked ?? null;
    const ticketId = replayed[repeatable.indexOf(scan)];
    return linked === null && ticketId === undefined
      ? undefined
      : { ...scan, ticketId: ticketId ?? scan.ticketId, linked };
  });
  const reads = await readAgain({ db, withIds }, lookups);
  return unknown.map(({ read }, index) => {
    const { isMediumElsewhere, isRevoked, ticketKeys } = meanings[index] ?? noMeaning;
    return { ...(reads[index] ?? read), isMediumElsewhere, isRevoked, ticketKeys };
  });
}

/**
 * Reads scans with the tickets that they have admitted before, in two statements for all: their codes may lead to other
 * tickets by now. Undefined: the scan has admitted none.
 */
export async function readReplayed(
  { db, withIds }: ReadTools,
  scans: readonly ArrivedScan[],
): Promise<(ScanRead | undefined)[]> {
  if (scans.length === 0) return [];
  const replayed = await findReplayed(db, scans);
  return readAgain(
    { db, withIds },
    scans.map((scan, index) => {
      const ticketId = replayed[index];
      return ticketId === undefined ? undefined : { ...scan, ticketId };
    }),
  );
}

async function readAgain(
  { db, withIds }: ReadTools,
  lookups: readonly (Lookup | undefined)[],
): Promise<(ScanRead | undefined)[]> {
  const wanted = lookups.filter((lookup) => lookup !== undefined);
  const reads = await readForScans(db, wanted, { withIds });
  return lookups.map((lookup) => (lookup === undefined ? undefined : reads[wanted.indexOf(lookup)]));
}

/** Decodes what was read for a scan. */
export function toCircumstances(
  scan: ArrivedScan,
  { read, readers }: { readonly read: ScanRead; readonly readers: Readers },
): Circumstances<MatchedTicket> {
  const { list, timezone, locale, isMediumElsewhere, isRevoked, isMediumEnforced } = read;
  const questionsOf = (found: FoundTicket) => (scan.type === "entry" ? found.questions.map(readers.question) : []);
  return {
    list,
    room: roomOn(list),
    rules: readers.rules(list.rules),
    reader: {
      zone: readers.zone(timezone),
      locale,
      habits: readers.habits(locale),
      wording: readers.wording(locale),
    },
    wordingOf: ({ position }) => readers.wording(scan.useOrderLocale ? (position.order?.locale ?? locale) : locale),
    isMediumElsewhere,
    isRevoked,
    isMediumEnforced,
    matches: read.tickets.map((found) => toMatch(found, questionsOf(found))),
  };
}

function roomOn({ hardLimit: limit, count }: ScannedList) {
  const inside = count?.persons ?? null;
  return limit === null || inside === null ? null : { limit, inside };
}

function toMatch(found: FoundTicket, questions: readonly Question[]): MatchedTicket {
  const position = withGivenAnswers(decodePosition(found.state), found.given);
  const ticket = toTicket(position);
  const { foundBy, hasNonce, presence, dates, ruled, mediaTerms, media } = found;
  return {
    ticket: { ...ticket, blocked: ticket.blocked || found.hasBlockedCode },
    foundBy,
    hasNonce,
    presence,
    scans: ruled,
    dates,
    questions,
    answers: questions.length === 0 ? nothingKnown : toStoredAnswers(position.answers),
    mediaTerms,
    media,
    position,
    found,
  };
}

const nothingKnown: ReadonlyMap<number, never> = new Map<number, never>();
