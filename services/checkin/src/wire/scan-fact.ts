import { deriveFactId } from "@tessera/kit/bus/fact-id";
import { topics } from "@tessera/protos/topics";
import type { ScanType } from "../domain/presence.ts";
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
}): { readonly id: string; readonly key: string; readonly payload: Uint8Array } {
  const { organizer, event, id, list, position, type, reason, at } = scan;
  const isAnnulled = reason === "annulled";
  const fact = {
    organizer,
    event,
    scan: id,
    list,
    position: position ?? undefined,
    type: fromScanType(type),
    successful: reason === null,
    reason: reason ?? undefined,
    at,
  };
  return {
    // The time is part of the id: a database restored from a backup gives scan ids again. An annulment is a second fact.
    id: deriveFactId(`${topics.scanDecided.name} ${organizer}/${event}/${id} ${at}${isAnnulled ? " annulled" : ""}`),
    key: topics.scanDecided.key(fact),
    payload: topics.scanDecided.encode(fact),
  };
}
