import type {
  FailedScan as FailedScanOnWire,
  ListScansRequest,
  PastScan as PastScanOnWire,
  RecordFailedScanRequest,
} from "@tessera/protos/gen/ticketing/checkin/v1/history";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { FailedScan, ScanPlace } from "../domain/failed-scan.ts";
import type { PastScan, ScanFilter } from "../domain/past-scan.ts";
import { fromScanType, toCheckin, toScanType } from "./positions.ts";

/** A refusal that a device tells of; what it does not say about its time is that it was scanned now. */
export function fromFailedScan(scan: FailedScanOnWire, { now }: { readonly now: number }): FailedScan {
  return {
    reason: scan.reason,
    explanation: scan.explanation ?? null,
    rawCode: scan.rawCode,
    sourceType: scan.sourceType,
    rawItem: scan.rawItem ?? null,
    rawVariation: scan.rawVariation ?? null,
    rawSubevent: scan.rawSubevent ?? null,
    nonce: scan.nonce ?? null,
    at: scan.at ?? now,
    type: toScanType(scan.type),
    position: scan.position ?? null,
  };
}

export function toFailedScan(scan: FailedScan): FailedScanOnWire {
  return {
    reason: scan.reason,
    explanation: scan.explanation ?? undefined,
    rawCode: scan.rawCode,
    sourceType: scan.sourceType,
    rawItem: scan.rawItem ?? undefined,
    rawVariation: scan.rawVariation ?? undefined,
    rawSubevent: scan.rawSubevent ?? undefined,
    nonce: scan.nonce ?? undefined,
    at: scan.at,
    type: fromScanType(scan.type),
    position: scan.position ?? undefined,
  };
}

export function toScanPlace({ organizer, event, list, deviceId, gate }: RecordFailedScanRequest): ScanPlace {
  return { organizer, event, list, deviceId: deviceId ?? null, gate: gate ?? null };
}

export function toScanFilter(request: ListScansRequest): ScanFilter {
  const { organizer, event, successful, reason, list, gate, device, autoCheckedIn } = request;
  return {
    organizer,
    event,
    created: { since: request.createdSince, before: request.createdBefore },
    scanned: { since: request.atSince, before: request.atBefore },
    successful,
    reason,
    list,
    type: request.type === ScanType.UNSPECIFIED ? undefined : toScanType(request.type),
    gate,
    device,
    autoCheckedIn,
  };
}

/** A scan as the history of its event shows it. */
export function toPastScan(scan: PastScan): PastScanOnWire {
  const { reason } = scan;
  return {
    checkin: toCheckin(scan.list, scan),
    createdAt: scan.createdAt,
    position: scan.position ?? undefined,
    refused: reason === null ? undefined : { reason, explanation: scan.explanation ?? undefined },
  };
}
