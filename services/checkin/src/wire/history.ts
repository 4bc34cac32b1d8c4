import type {
  ExportScansRequest,
  FailedScan as FailedScanOnWire,
  ListScansRequest,
  PastScan as PastScanOnWire,
  RecordFailedScanRequest,
} from "@tessera/protos/gen/ticketing/checkin/v1/history";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { FailedScan, ScanPlace } from "../domain/failed-scan.ts";
import type { PastScan, ScanFilter } from "../domain/past-scan.ts";
import { fromScanType, toCheckin, toScanType } from "./position-messages.ts";
import { toKeptCode } from "./scan-messages.ts";

/** Reads a refusal that a device reports; the default time is now. */
export function fromFailedScan(scan: FailedScanOnWire, { now }: { readonly now: number }): FailedScan {
  return {
    ...scan,
    rawCode: toKeptCode(scan.rawCode),
    explanation: scan.explanation ?? null,
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
    ...scan,
    explanation: scan.explanation ?? undefined,
    rawItem: scan.rawItem ?? undefined,
    rawVariation: scan.rawVariation ?? undefined,
    rawSubevent: scan.rawSubevent ?? undefined,
    nonce: scan.nonce ?? undefined,
    type: fromScanType(scan.type),
    position: scan.position ?? undefined,
  };
}

export function toScanPlace({ organizer, event, list, deviceId, gate }: RecordFailedScanRequest): ScanPlace {
  return { organizer, event, list, deviceId: deviceId ?? null, gate: gate ?? null };
}

export function toScanFilter(request: ListScansRequest | ExportScansRequest): ScanFilter {
  const { createdSince, createdBefore, atSince, atBefore, type, ...same } = request;
  return {
    ...same,
    created: { since: createdSince, before: createdBefore },
    scanned: { since: atSince, before: atBefore },
    type: type === ScanType.UNSPECIFIED ? undefined : toScanType(type),
  };
}

export function toPastScan(scan: PastScan): PastScanOnWire {
  const { reason } = scan;
  return {
    checkin: toCheckin(scan.list, scan),
    createdAt: scan.createdAt,
    position: scan.position ?? undefined,
    refused: reason === null ? undefined : { reason, explanation: scan.explanation ?? undefined },
  };
}
