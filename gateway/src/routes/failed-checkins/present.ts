import type { FailedScan } from "@tessera/protos/gen/ticketing/checkin/v1/history";
import { formatInstant } from "@tessera/values";
import { nameScanType, readScanType } from "../checkins/scan-type.ts";
import type { FailedCheckinBody } from "./schema.ts";

/** Converts a body to the message of its service. An empty nonce identifies nothing. */
export function toFailedScan(body: FailedCheckinBody): FailedScan {
  return {
    reason: body.error_reason,
    explanation: body.error_explanation ?? undefined,
    rawCode: body.raw_barcode,
    sourceType: body.raw_source_type ?? "barcode",
    ...(namesAsScanners(body)
      ? { rawItem: toId(body.item), rawVariation: toId(body.variation), rawSubevent: toId(body.subevent) }
      : {
          rawItem: body.raw_item ?? undefined,
          rawVariation: body.raw_variation ?? undefined,
          rawSubevent: body.raw_subevent ?? undefined,
        }),
    nonce: body.nonce === null || body.nonce === "" ? undefined : body.nonce,
    at: body.datetime ?? undefined,
    type: readScanType(body.type),
    position: body.position ?? undefined,
  };
}

/** Whether a body names what the code was taken for as pretixSCAN does. */
export function namesAsScanners({ raw_item, raw_variation, raw_subevent }: FailedCheckinBody): boolean {
  return [raw_item, raw_variation, raw_subevent].every((id) => id === undefined || id === null);
}

function toId(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : undefined;
}

export function presentFailedScan(scan: FailedScan | undefined) {
  if (scan?.at === undefined) throw new Error("checkin answered without the refusal it stored");
  return {
    error_reason: scan.reason,
    error_explanation: scan.explanation ?? null,
    raw_barcode: scan.rawCode,
    raw_source_type: scan.sourceType,
    raw_item: scan.rawItem ?? null,
    raw_variation: scan.rawVariation ?? null,
    raw_subevent: scan.rawSubevent ?? null,
    nonce: scan.nonce ?? null,
    datetime: formatInstant(scan.at),
    type: nameScanType(scan.type),
    position: scan.position ?? null,
  };
}
