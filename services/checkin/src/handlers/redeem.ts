import type { Db } from "@tessera/kit/pg/database";
import type { Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import type { Scan, ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { topics } from "@tessera/protos/topics";
import { decideScan, type Match, type Ticket, type Verdict } from "../domain/decide-scan.ts";
import { countChange } from "../domain/presence.ts";
import { tellOfScan } from "../scan-fact.ts";
import { type FoundTicket, findReplayed, readForScans, type ScanLookup, type ScanRead } from "../store/scan-reads.ts";
import { type ScanToStore, storeScans } from "../store/scan-writes.ts";
import type { StoredCheckin } from "../store/ticket-rows.ts";
import { decodePosition, fromScanType, toListedPosition, toScanType, toTicket } from "../wire.ts";
import { behind, overtaken, type Undecided } from "./redeem-batcher.ts";

/** A scan with what is known of its arrival. */
export interface ArrivedScan {
  readonly scan: Scan;
  /** When it was scanned: what the device says, else when it arrived. */
  readonly at: number;
  readonly traceparent: string | undefined;
}

/**
 * Decides scans together: one read of everything they are decided by, one
 * decision each, one write of everything that follows.
 *
 * Of several scans of one ticket on one list, all behind the first admission
 * are left undecided: what was read is not true for them. So are those that lost
 * their ticket to somebody else between the read and the write.
 */
export async function decideScans(db: Db, arrived: readonly ArrivedScan[]): Promise<(ScanOutcome | Undecided)[]> {
  const outcomes: (ScanOutcome | Undecided)[] = arrived.map(() => behind);
  const open: { readonly index: number; readonly decided: Decided; readonly row: ScanToStore }[] = [];
  const taken = new Set<string>();
  for (const [index, decided] of (await readAndDecide(db, arrived)).entries()) {
    if (decided === undefined) {
      outcomes[index] = unknownList;
      continue;
    }
    const { verdict } = decided;
    const place = placeOf(decided);
    if (verdict.outcome === "repeated") outcomes[index] = toOutcome(decided);
    else if (place === undefined || !taken.has(place)) open.push({ index, decided, row: toRow(decided) });
    if (place !== undefined && verdict.outcome === "admitted") taken.add(place);
  }
  if (open.length === 0) return outcomes;
  const stored = await storeScans(db, { topic: topics.scanDecided.name, scans: open.map(({ row }) => row) });
  if (stored.size > 0) db.wroteOutbox();
  for (const [order, { index, decided }] of open.entries()) {
    outcomes[index] = stored.has(order) ? toOutcome(decided) : overtaken;
  }
  return outcomes;
}

/** Undefined where the event has no such list. */
async function readAndDecide(db: Db, arrived: readonly ArrivedScan[]): Promise<(Decided | undefined)[]> {
  const lookups = arrived.map(({ scan }) => toLookup(scan));
  const reads = await readForScans(db, lookups);
  const decisions = arrived.map((scan, index) => decide(scan, reads[index]));
  const lost = arrived.flatMap((scan, index) => {
    const lookup = lookups[index];
    const unknown = decisions[index]?.verdict.outcome === "unknown_ticket";
    return unknown && lookup !== undefined && lookup.nonce !== null ? [{ scan, index, lookup }] : [];
  });
  if (lost.length === 0) return decisions;
  // A scan that succeeded once succeeds again, even where no ticket answers to its code any more.
  const tickets = await findReplayed(
    db,
    lost.map(({ lookup }) => lookup),
  );
  const replays = lost.flatMap((found, order) => {
    const ticketId = tickets[order];
    return ticketId === undefined ? [] : [{ ...found, lookup: { ...found.lookup, ticketId } }];
  });
  if (replays.length === 0) return decisions;
  const again = await readForScans(
    db,
    replays.map(({ lookup }) => lookup),
  );
  for (const [order, { scan, index }] of replays.entries()) decisions[index] = decide(scan, again[order]);
  return decisions;
}

/** A ticket that may be meant, with what its answer needs. */
interface MatchedTicket extends Match<Ticket> {
  readonly position: Position;
  readonly read: FoundTicket;
}

interface Decided extends ArrivedScan {
  readonly read: ScanRead;
  readonly verdict: Verdict<MatchedTicket>;
}

function toLookup(scan: Scan): ScanLookup {
  const { lookup } = scan;
  // Postgres stores no NUL, so no ticket has such a code.
  const code = lookup.includes("\0") ? null : lookup;
  const isId = !scan.untrustedInput && /^\d{1,15}$/.test(lookup);
  return {
    organizer: scan.organizer,
    event: scan.event,
    list: scan.list,
    code,
    codeWithBlanks: code?.includes("+") ? code.replaceAll("+", " ") : null,
    ticketId: isId ? Number(lookup) : null,
    nonce: scan.nonce === undefined ? null : toStorable(scan.nonce),
  };
}

function toStorable(text: string): string {
  return text.replaceAll("\0", "\u{fffd}");
}

function decide(arrived: ArrivedScan, read: ScanRead | undefined): Decided | undefined {
  if (read === undefined) return undefined;
  const { scan, at } = arrived;
  const matches = read.tickets.map((found): MatchedTicket => {
    const position = decodePosition(found.state);
    const { foundBy, hasNonce, presence } = found;
    return { foundBy, hasNonce, presence, ticket: toTicket(position), position, read: found };
  });
  const { force, ignoreUnpaid, canceledSupported } = scan;
  const verdict = decideScan(
    { type: toScanType(scan.type), at, force, ignoreUnpaid, canceledSupported },
    { list: read.list, timezone: read.timezone, matches },
  );
  return { ...arrived, read, verdict };
}

/** Names the ticket on its list, which at most one scan at a time may change. */
function placeOf({ scan, verdict }: Decided): string | undefined {
  if (verdict.outcome === "unknown_ticket") return undefined;
  return `${scan.organizer}/${scan.event}/${scan.list}/${verdict.match.ticket.id}`;
}

function toRow({ scan, at, traceparent, read, verdict }: Decided): ScanToStore {
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
    rawCode: toStorable(scan.lookup),
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

function refusalOf(verdict: Verdict<MatchedTicket>): { reason: string; explanation: string | null } | undefined {
  if (verdict.outcome === "refused") return { reason: verdict.reason, explanation: verdict.explanation };
  return verdict.outcome === "unknown_ticket" ? { reason: "invalid", explanation: null } : undefined;
}

const unknownList: ScanOutcome = {
  outcome: { $case: "unknownList", value: {} },
  list: undefined,
  position: undefined,
  checkinTexts: [],
};

function toOutcome(decided: Decided): ScanOutcome {
  const { scan, read, verdict } = decided;
  const list = {
    id: scan.list,
    name: read.list.name,
    subevent: read.list.subevent ?? undefined,
    includePending: read.list.includePending,
  };
  if (verdict.outcome === "unknown_ticket") {
    return { outcome: { $case: "unknownTicket", value: {} }, list, position: undefined, checkinTexts: [] };
  }
  const { match } = verdict;
  return {
    outcome:
      verdict.outcome === "refused"
        ? { $case: "refused", value: { reason: verdict.reason, explanation: verdict.explanation ?? undefined } }
        : { $case: "admitted", value: {} },
    list,
    position: toListedPosition({
      list: scan.list,
      position: match.position,
      ticket: match.ticket,
      parent: match.read.parentState === null ? undefined : decodePosition(match.read.parentState),
      item: match.read.item,
      downloads: read.downloads,
      checkins: verdict.outcome === "admitted" ? withNewScan(match.read.checkins, decided) : match.read.checkins,
    }),
    checkinTexts: [match.position.order?.checkinText, match.read.item.variationText, match.read.item.itemText].filter(
      (text): text is string => text !== undefined && text !== null && text !== "",
    ),
  };
}

/** Puts the scan that has just been stored where it belongs: newest first, the last to arrive before its equals. */
function withNewScan(earlier: readonly StoredCheckin[], { scan, at, read }: Decided): StoredCheckin[] {
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
