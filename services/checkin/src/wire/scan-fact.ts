import type { ScanType } from "@tessera/admission";
import { deriveFactId } from "@tessera/kit/bus/fact-id";
import { topics } from "@tessera/protos/topics";
import { fromScanType } from "./position-messages.ts";

/** Writes the fact that publishes a scan; its id is deterministic. */
export function toScanFact(scan: {
  readonly organizer: string;
  readonly event: string;
  readonly id: number;
  readonly list: number;
  readonly position: number | null;
  readonly type: ScanType;
  /** Null: the scan is admitted. */
  readonly reason: string | null;
  readonly at: number;
  readonly overruled?: string | null;
  readonly isOutOfOrder?: boolean;
}): { readonly id: string; readonly key: string; readonly payload: Uint8Array } {
  const { organizer, event, id, list, position, type, reason, at } = scan;
  const isAdmitted = reason === null;
  const isAnnulled = reason === "annulled";
  const fact = {
    organizer,
    event,
    scan: id,
    list,
    position: position ?? undefined,
    type: fromScanType(type),
    successful: isAdmitted,
    reason: reason ?? undefined,
    at,
    // What was overruled counts no more once the scan is taken back.
    overruled: isAdmitted ? (scan.overruled ?? undefined) : undefined,
    outOfOrder: isAdmitted && scan.isOutOfOrder === true ? true : undefined,
  };
  return {
    // The time is part of the id: a database restored from a backup gives scan ids again. An annulment is a second fact.
    id: deriveFactId(`${topics.scanDecided.name} ${organizer}/${event}/${id} ${at}${isAnnulled ? " annulled" : ""}`),
    key: topics.scanDecided.key(fact),
    payload: topics.scanDecided.encode(fact),
  };
}
