import type { Scan } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { ArrivedScan } from "../domain/arrived-scan.ts";
import { toSentAnswers } from "./answers.ts";
import { toScanType } from "./positions.ts";

export function toArrivedScan(
  scan: Scan,
  arrival: { readonly now: number; readonly traceparent: string | undefined; readonly mayBeNew: boolean },
): ArrivedScan {
  const { lookup, untrustedInput, expand: _, ...same } = scan;
  const isId = !untrustedInput && /^\d{1,16}$/.test(lookup) && Number.isSafeInteger(Number(lookup));
  return {
    ...same,
    type: toScanType(scan.type),
    at: scan.at ?? arrival.now,
    // Postgres stores no NUL, so no ticket has such a code.
    code: lookup.includes("\0") ? null : lookup,
    rawCode: toStorable(lookup),
    ticketId: isId ? Number(lookup) : null,
    nonce: scan.nonce === undefined ? null : toStorable(scan.nonce),
    deviceId: scan.deviceId ?? null,
    gate: scan.gate ?? null,
    answers: toSentAnswers(scan.answers),
    traceparent: arrival.traceparent ?? null,
    mayBeNew: arrival.mayBeNew,
  };
}

/** Postgres stores no NUL. */
function toStorable(text: string): string {
  return text.replaceAll("\0", "\u{fffd}");
}
