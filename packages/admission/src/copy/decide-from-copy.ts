import type { ArrivedScan } from "../arrived-scan.ts";
import { decideScan, type Verdict } from "../decide-scan.ts";
import { readMediaTerms } from "../media-terms.ts";
import type { Circumstances } from "../objections.ts";
import type { StoredAnswer } from "../questions/answer-questions.ts";
import type { Readers } from "../readers.ts";
import type { FoundBy, Match } from "../ticket.ts";
import {
  type CopiedPresence,
  type CopiedScan,
  type CopiedTicket,
  type EventCopy,
  type OwnScan,
  toMoment,
  toMomentOrNull,
} from "./event-copy.ts";
import type { FeedData, ItemInFeed } from "./feed-line.ts";

/** A ticket of a copy, with what is shown of it. */
export interface CopiedMatch extends Match<CopiedTicket> {
  readonly item: ItemInFeed | undefined;
  /** All that is known of its scans on the list, newest first. */
  readonly past: readonly CopiedScan[];
}

export interface CopyTools {
  readonly readers: Readers;
  /** Scans of this device that the feed may not tell yet. */
  readonly own: readonly OwnScan[];
}

/**
 * Decides a scan on its list as the server does, by a copy of the event. Undefined: the copy has no such list.
 *
 * A copy has less than the server: the texts of answers (a question that depends on an answer given before is not
 * asked), how many persons are inside, media whose tickets are of other events, that the answers of an event were erased, and parts of a millisecond.
 */
export function decideFromCopy(copy: EventCopy, scan: ArrivedScan, tools: CopyTools): Verdict<CopiedMatch> | undefined {
  const list = copy.entities.list.get(scan.list);
  const { event } = copy;
  if (list === undefined || event === undefined) return undefined;
  const scanned = { scan: withHashedMedium(copy, scan), list, event };
  const about = toTerms(copy, scanned, tools);
  const decided = decideScan(scanned.scan, { ...about, ...plain, matches: findByCode(copy, scanned, tools) });
  if (decided.outcome !== "unknown_ticket" || scan.code === null) return decided;
  return decideScan(scanned.scan, { ...about, ...findOtherMeaning(copy, scanned, tools) });
}

/** A copy knows media by the hashes of their identifiers. */
function withHashedMedium(copy: EventCopy, scan: ArrivedScan): ArrivedScan {
  const { medium } = scan;
  return medium === null ? scan : { ...scan, medium: { ...medium, identifier: copy.hashOf(medium.identifier) } };
}

const plain = { isMediumElsewhere: false, isRevoked: false } as const;

interface ScanOnList {
  readonly scan: ArrivedScan;
  readonly list: FeedData["list"];
  readonly event: FeedData["event"];
}

function toTerms(copy: EventCopy, { event, list, scan }: ScanOnList, { readers }: CopyTools) {
  const { timezone, locale } = event;
  return {
    list: {
      allProducts: list.all_products,
      limitProducts: list.limit_products,
      subevent: list.subevent,
      includePending: list.include_pending,
      allowMultipleEntries: list.allow_multiple_entries,
      allowEntryAfterExit: list.allow_entry_after_exit,
    },
    // Other gates let people in and out meanwhile: a copy does not know who is inside.
    room: null,
    rules: readers.rules(copy.textOf(list.rules)),
    reader: {
      zone: readers.zone(timezone),
      locale,
      habits: readers.habits(locale),
      wording: readers.wording(locale),
    },
    wordingOf: ({ ticket }: CopiedMatch) => readers.wording(scan.useOrderLocale ? ticket.locale : locale),
    isMediumEnforced: event.reusable_media_usage_enforced,
  } satisfies Partial<Circumstances<CopiedMatch>>;
}

/** The tickets that have the code, be it with blanks for plus signs, and on some lists their add-ons. */
function findByCode(copy: EventCopy, scanned: ScanOnList, tools: CopyTools): CopiedMatch[] {
  const { code } = scanned.scan;
  if (code === null) return [];
  const withBlanks = code.includes("+") ? copy.ticketsWith(code.replaceAll("+", " ")) : [];
  return toMatches(copy, scanned, tools, [
    ["code", copy.ticketsWith(code)],
    ["code_with_blanks", withBlanks],
  ]);
}

/** What a code means that no ticket has: a medium that is valid at the time of the scan, else a revoked code. */
function findOtherMeaning(copy: EventCopy, scanned: ScanOnList, tools: CopyTools) {
  const { code, sourceType, at } = scanned.scan;
  const hash = copy.hashOf(code ?? "");
  const linkedTo = (foundBy: FoundBy, ids: readonly number[]) =>
    toMatches(copy, scanned, tools, [[foundBy, ids.flatMap((id) => copy.ticket(id) ?? [])]]);
  const medium = copy.media
    .withCode(hash)
    .find(
      ({ type, active, expires, tickets }) =>
        type === sourceType && active && tickets.length > 0 && isAfter(expires, at),
    );
  if (medium !== undefined) {
    const ids = medium.tickets.filter(({ event }) => event === copy.slug).map(({ id }) => id);
    return { isMediumElsewhere: ids.length === 0, isRevoked: false, matches: linkedTo("medium", ids) };
  }
  const [revoked] = copy.revoked.withCode(hash).sort((one, other) => other.id - one.id);
  const ids = revoked?.ticket == null ? [] : [revoked.ticket];
  return { isMediumElsewhere: false, isRevoked: revoked !== undefined, matches: linkedTo("revoked", ids) };
}

function isAfter(expires: string | null, at: number): boolean {
  return expires === null || toMoment(expires) > at;
}

/** Each ticket once, by the first way that leads to it. */
function toMatches(
  copy: EventCopy,
  scanned: ScanOnList,
  tools: CopyTools,
  ways: readonly (readonly [FoundBy, readonly CopiedTicket[]])[],
): CopiedMatch[] {
  const matches = new Map<number, CopiedMatch>();
  for (const [foundBy, tickets] of ways) {
    const addons = scanned.list.addon_match ? tickets.flatMap(({ id }) => copy.addonsOf(id)) : [];
    for (const ticket of [...tickets, ...addons])
      if (!matches.has(ticket.id)) matches.set(ticket.id, toMatch(copy, { ...scanned, ticket, foundBy }, tools));
  }
  return [...matches.values()];
}

function toMatch(
  copy: EventCopy,
  { scan, list, event, ticket, foundBy }: ScanOnList & { readonly ticket: CopiedTicket; readonly foundBy: FoundBy },
  { readers, own }: CopyTools,
): CopiedMatch {
  const item = copy.entities.item.get(ticket.item);
  const dates = ticket.subevent === null ? event : copy.entities.subevent.get(ticket.subevent);
  const questions = scan.type === "entry" ? questionsOf(copy, ticket.item).map(readers.question) : [];
  const { presence, hasScan } = withOwn(copy.presence(ticket.id, scan.list), { own, scan, ticket: ticket.id });
  const [last = null] = presence.scans;
  const mediaTerms = readMediaTerms(item?.media_policy ?? null, item?.media_type ?? null);
  return {
    ticket,
    item,
    foundBy,
    hasNonce: hasScan,
    presence: { version: presence.scans.length, entries: presence.entries, last },
    past: presence.scans,
    scans: Object.keys(list.rules).length === 0 ? [] : presence.scans,
    dates: {
      from: toMomentOrNull(dates?.date_from ?? null),
      to: toMomentOrNull(dates?.date_to ?? null),
      admission: toMomentOrNull(dates?.date_admission ?? null),
    },
    questions,
    answers: new Map(ticket.answered.map((question) => [question, untold])),
    mediaTerms,
    media: mediaTerms === null ? [] : mediaOf(copy, ticket.id, mediaTerms.type),
  };
}

/** The feed says that a question was answered, without the answer. */
const untold: StoredAnswer = { text: "", optionIdentifiers: [] };

/** The questions that visitors with a product are asked at the gate, in order, as JSON. */
function questionsOf(copy: EventCopy, item: number): string[] {
  return [...copy.entities.question]
    .filter(([, { items, ask_during_checkin: isAsked }]) => isAsked && items.includes(item))
    .sort(([one, { position: first }], [other, { position: second }]) => first - second || one - other)
    .map(([, question]) => copy.textOf(question));
}

function mediaOf(copy: EventCopy, ticket: number, wanted: string) {
  return Iterator.from(copy.media.all())
    .filter(
      ({ type, active, tickets }) =>
        type === wanted && active && tickets.some(({ event, id }) => event === copy.slug && id === ticket),
    )
    .map(({ code, expires }) => ({ identifier: code, expires: toMomentOrNull(expires) }))
    .toArray();
}

/**
 * Adds the scans of this device that have not come by the feed yet. The scan itself may be known: the server admitted it, and
 * its answer was lost.
 */
function withOwn(
  told: CopiedPresence,
  { own, scan, ticket }: { readonly own: readonly OwnScan[]; readonly scan: ArrivedScan; readonly ticket: number },
) {
  const ofTicket = own.filter((each) => each.ticket === ticket && each.list === scan.list);
  const isTold = ({ type, at }: Pick<OwnScan, "type" | "at">) =>
    told.scans.some((each) => each.type === type && inMilliseconds(each.at) === inMilliseconds(at) && isOf(scan, each));
  const untoldScans = ofTicket
    .filter((each) => !isTold(each))
    .map((each) => ({ ...each, device: scan.deviceId, gate: scan.gate }));
  const entries = untoldScans.filter(({ type }) => type === "entry").length;
  const scans = [...untoldScans, ...told.scans].sort((one, other) => other.at - one.at);
  const hasScan = ofTicket.some(({ nonce }) => nonce === scan.nonce) || (scan.deviceId !== null && isTold(scan));
  return { presence: { entries: told.entries + entries, scans }, hasScan };
}

function isOf({ deviceId }: ArrivedScan, { device }: CopiedPresence["scans"][number]): boolean {
  return device === undefined || device === deviceId;
}

function inMilliseconds(at: number): number {
  return Math.floor(at / 1000);
}
