import type { ArrivedScan, BroughtMedium } from "@tessera/admission";
import type { ExchangeMedium, Scan } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { toSentAnswers } from "./answers.ts";
import { toScanType } from "./position-messages.ts";

/** Field by field: every scan passes here, and object spread takes three times as long. */
export function toArrivedScan(
  scan: Scan,
  arrival: {
    readonly now: number;
    readonly traceparent: string | undefined;
    readonly mayBeNew: boolean;
    readonly others?: ArrivedScan["others"];
  },
): ArrivedScan {
  const { organizer, event, list, lookup, sourceType, force, ignoreUnpaid, canceledSupported, questionsSupported } =
    scan;
  const isId = !scan.untrustedInput && /^\d{1,16}$/.test(lookup) && Number.isSafeInteger(Number(lookup));
  return {
    organizer,
    event,
    list,
    others: arrival.others ?? [],
    type: toScanType(scan.type),
    at: scan.at ?? arrival.now,
    // Postgres stores no NUL, so no ticket has such a code.
    code: lookup.includes("\0") ? null : lookup,
    rawCode: toKeptCode(lookup),
    ticketId: isId ? Number(lookup) : null,
    sourceType,
    nonce: scan.nonce === undefined ? null : toStorable(scan.nonce),
    deviceId: scan.deviceId ?? null,
    gate: scan.gate ?? null,
    force,
    ignoreUnpaid,
    canceledSupported,
    questionsSupported,
    answers: toSentAnswers(scan.answers),
    useOrderLocale: scan.useOrderLocale,
    medium: toMedium(scan.exchangeMedium),
    traceparent: arrival.traceparent ?? null,
    mayBeNew: arrival.mayBeNew,
  };
}

function toMedium(sent: ExchangeMedium | undefined): BroughtMedium | null {
  return sent === undefined ? null : { type: sent.type, identifier: toStorable(sent.identifier) };
}

/** No secret is longer. A longer scanned text is cut off. */
const longestCode = 1000;

/** The code as it is stored with its scan. */
export function toKeptCode(code: string): string {
  return toStorable(code.length <= longestCode ? code : [...code].slice(0, longestCode).join(""));
}

/** Postgres stores no NUL. */
function toStorable(text: string): string {
  return text.replaceAll("\0", "\u{fffd}");
}
