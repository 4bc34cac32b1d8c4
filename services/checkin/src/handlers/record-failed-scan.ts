import { answerOnce } from "@tessera/events/answer-once";
import type { Clock } from "@tessera/kit/clock";
import { currentContext } from "@tessera/kit/context";
import type { Db, Tx } from "@tessera/kit/pg/database";
import type {
  RecordFailedScanRequest,
  RecordFailedScanResponse,
} from "@tessera/protos/gen/ticketing/checkin/v1/history";
import { ScanHistory } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import type { FailedScan, ScanPlace } from "../domain/failed-scan.ts";
import { reportUnknownIds } from "../domain/report-unknown-ids.ts";
import { secondsAhead } from "../domain/seconds-ahead.ts";
import { fault } from "../faults.ts";
import type { CheckinEvents } from "../report-events.ts";
import { type EventInfo, requireEvent } from "../store/events.ts";
import {
  findFailedScan,
  findRawReferences,
  lockForScan,
  lockNonce,
  lockPositionWithSecret,
  nextScanId,
} from "../store/failed-scans.ts";
import type { EventKey } from "../store/keys.ts";
import { listNotFound, requireList } from "../store/lists.ts";
import { storeScans } from "../store/store-scans.ts";
import { fromFailedScan, toFailedScan, toScanPlace } from "../wire/history.ts";
import { toScanFact } from "../wire/scan-fact.ts";

/** Stores a refusal that a device decided. Presences and counts do not change. */
export async function recordFailedScan(
  request: RecordFailedScanRequest,
  { db, clock, events }: { readonly db: Db; readonly clock: Clock; readonly events: CheckinEvents },
): Promise<RecordFailedScanResponse> {
  if (request.scan === undefined) throw new Error("a refusal was to be stored of nothing");
  const place = toScanPlace(request);
  const now = clock.now();
  const sent = fromFailedScan(request.scan, { now });
  let stored = false;
  const record = async (tx: Tx): Promise<RecordFailedScanResponse> => {
    const event = await requireEvent(tx, place);
    await requireList(tx, { ...place, id: place.list });
    const found = await lockPositionOf(tx, { place, scan: sent });
    const known = await requireKnown(tx, place, { event, scan: sent, leavesOut: request.leavesOutUnknown === true });
    const earlier = await findEarlier(tx, { place, scan: sent, found });
    stored = earlier === undefined;
    if (earlier !== undefined) return { scan: toFailedScan(earlier) };
    const scan = { ...sent, ...known, position: found.position };
    await store(tx, { place, scan });
    return { scan: toFailedScan(scan) };
  };
  const response = await answerOnce(db, ScanHistory.recordFailedScan, record, {
    of: place,
    repeats: ["attendee_info"],
  });
  if (stored) {
    events.refusalReported(place, { reason: sent.reason });
    const seconds = secondsAhead({ at: sent.at, now });
    if (seconds !== undefined) events.scanAhead(request, { seconds });
  }
  return response;
}

/** The position of a refusal, and whether it was found by its code alone. */
interface FoundPosition {
  readonly position: number | null;
  readonly byCode: boolean;
}

async function lockPositionOf(
  tx: Tx,
  { place, scan }: { readonly place: ScanPlace; readonly scan: FailedScan },
): Promise<FoundPosition> {
  if (scan.position === null) {
    const position = await lockPositionWithSecret(tx, { ...place, code: scan.rawCode });
    return { position, byCode: position !== null };
  }
  if (!(await lockForScan(tx, "position", { ...place, id: scan.position }))) {
    throw fault("position_not_found", "The event has no such position.");
  }
  return { position: scan.position, byCode: false };
}

type Raw = Pick<FailedScan, "rawItem" | "rawVariation" | "rawSubevent">;

/** Returns what the device took the code for, as far as the event has it; else it is refused, unless it is to be left out. */
async function requireKnown(
  tx: Tx,
  place: EventKey,
  { event, scan, leavesOut }: { readonly event: EventInfo; readonly scan: FailedScan; readonly leavesOut: boolean },
): Promise<Raw> {
  const known = await findRawReferences(tx, place, scan);
  const isDateKnown = known.subevent && (event.hasSubevents || scan.rawSubevent === null);
  if (leavesOut) {
    return {
      rawItem: known.item ? scan.rawItem : null,
      rawVariation: known.variation ? scan.rawVariation : null,
      rawSubevent: isDateKnown ? scan.rawSubevent : null,
    };
  }
  const unknown = (id: number | null, what: string) => reportUnknownIds(id === null ? [] : [id], what);
  const fields = {
    ...(known.item ? {} : { raw_item: unknown(scan.rawItem, "item") }),
    ...(known.variation ? {} : { raw_variation: unknown(scan.rawVariation, "variation") }),
    ...(isDateKnown ? {} : { raw_subevent: unknown(scan.rawSubevent, "date") }),
  };
  const names = Object.keys(fields);
  if (names.length === 0) return scan;
  throw fault("invalid_failed_scan", `The refused scan is not valid: ${names.join(", ")}.`, { fields });
}

/** Finds the same refusal in an earlier report. */
async function findEarlier(
  tx: Tx,
  { place, scan, found }: { readonly place: ScanPlace; readonly scan: FailedScan; readonly found: FoundPosition },
): Promise<FailedScan | undefined> {
  const { nonce, rawCode } = scan;
  if (nonce === null) return undefined;
  await lockNonce(tx, { ...place, nonce });
  const { position, byCode } = found;
  const same = byCode && position !== null ? { position } : { list: place.list, rawCode };
  return findFailedScan(tx, place, { nonce, rawCode, same });
}

async function store(tx: Tx, { place, scan }: { readonly place: ScanPlace; readonly scan: FailedScan }): Promise<void> {
  if (!(await lockForScan(tx, "list", { ...place, id: place.list }))) throw listNotFound();
  const { reason, explanation } = scan;
  const refused = { ...place, ...scan, id: await nextScanId(tx) };
  const fact = { ...toScanFact(refused), traceparent: currentContext().traceparent ?? null };
  const scans = [
    { ...refused, forced: true, forceSent: true, admission: null, refusal: { reason, explanation }, fact },
  ];
  const stored = await storeScans(tx, { topic: topics.scanDecided.name, scans });
  if (stored.size === 0) throw new Error("a refusal was not stored, although its list and its position are locked");
}
