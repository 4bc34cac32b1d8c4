import type { Db } from "@tessera/kit/pg/database";
import type { Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import type { Scan, ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { topics } from "@tessera/protos/topics";
import { decideScan, type FoundBy, type Ticket, type Verdict } from "../domain/decide-scan.ts";
import { countChange, type Presence } from "../domain/presence.ts";
import { readForScans, type ScanLookup, type ScanRead, type StoredCheckin, type TicketRead } from "../store/scan-reads.ts";
import { type ScanToStore, storeScans } from "../store/scan-writes.ts";
import { decodePosition, fromScanType, toListedPosition, toScanType, toTicket } from "../wire.ts";

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
 * A scan whose outcome is undefined came too late in this round, because another
 * scan of its ticket was stored first; it is to be decided again, on fresh data.
 */
export async function decideScans(db: Db, arrived: readonly ArrivedScan[]): Promise<(ScanOutcome | undefined)[]> {
  const reads = await readForScans(db, arrived.map(({ scan }) => toLookup(scan)));
  const outcomes: (ScanOutcome | undefined)[] = arrived.map(() => undefined);
  const open: { readonly index: number; readonly decided: Decided; readonly row: ScanToStore }[] = [];
  const taken = new Set<string>();
  for (const [index, scan] of arrived.entries()) {
    const read = reads[index];
    if (read === undefined) {
      outcomes[index] = unknownList;
      continue;
    }
    const decided = decide(scan, read);
    const { verdict } = decided;
    if (verdict.outcome === "repeated") {
      outcomes[index] = toOutcome(decided);
      continue;
    }
    const key = placeOf(decided);
    // Its ticket is being admitted in this very round: what was read is no longer true.
    if (key !== undefined && taken.has(key)) continue;
    if (key !== undefined && verdict.outcome === "admitted") taken.add(key);
    open.push({ index, decided, row: toRow(decided) });
  }
  if (open.length === 0) return outcomes;
  const stored = await storeScans(db, { topic: topics.scanDecided.name, scans: open.map(({ row }) => row) });
  if (stored.size > 0) db.wroteOutbox();
  for (const [order, { index, decided }] of open.entries()) {
    if (stored.has(order)) outcomes[index] = toOutcome(decided);
  }
  return outcomes;
}

/** A ticket that may be meant, with what its decision and its answer need. */
interface MatchedTicket {
  readonly foundBy: FoundBy;
  readonly hasNonce: boolean;
  readonly presence: Presence;
  readonly ticket: Ticket;
  readonly position: Position;
  readonly read: TicketRead;
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

function decide(arrived: ArrivedScan, read: ScanRead): Decided {
  const { scan, at } = arrived;
  const matches = read.tickets.map((ticket): MatchedTicket => {
    const position = decodePosition(ticket.state);
    const { foundBy, hasNonce, presence } = ticket;
    return { foundBy, hasNonce, presence, ticket: toTicket(position), position, read: ticket };
  });
  const verdict = decideScan(
    {
      type: toScanType(scan.type),
      at,
      force: scan.force,
      ignoreUnpaid: scan.ignoreUnpaid,
      canceledSupported: scan.canceledSupported,
    },
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
    fact: { key: topics.scanDecided.key(fact), payload: topics.scanDecided.encode(fact), traceparent: traceparent ?? null },
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
      (text) => text !== undefined && text !== null && text !== "",
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
