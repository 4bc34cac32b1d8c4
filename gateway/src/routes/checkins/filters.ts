import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { Access } from "../../access/may-use.ts";
import { choiceFilter, flagFilter, idFilter, instantFilter, numberFilter, type Values } from "../../http/parameter.ts";
import { errorReasons } from "../failed-checkins/schema.ts";
import { readScanType } from "./scan-type.ts";

/** Who may read the history of an event. */
export const reading: Access = { kind: "event", anyOf: ["event.orders:read"], profiles: [] };

/** Which scans of an event are wanted. */
export const filters = {
  created_since: instantFilter(
    "Came here at this time or later. To miss none that is held back, begin a minute before the newest that you know.",
  ),
  created_before: instantFilter("Came here before this time."),
  datetime_since: instantFilter("Scanned at this time or later."),
  datetime_before: instantFilter("Scanned before this time."),
  successful: flagFilter("Only scans that succeeded, or only refused ones."),
  error_reason: choiceFilter("Only scans refused for this reason.", errorReasons),
  list: idFilter("Only scans on this list."),
  type: choiceFilter("Only entries, or only exits.", ["entry", "exit"] as const),
  // Gates and devices belong to the organizer; the ids are compared without a lookup (see ListScans).
  gate: numberFilter("Only scans at this gate, by its id."),
  device: numberFilter("Only scans by this device, by its internal id."),
  auto_checked_in: flagFilter("Only scans that the platform made by itself, or only the others."),
};

export function toFilter(query: Values<typeof filters>) {
  return {
    createdSince: query.created_since,
    createdBefore: query.created_before,
    atSince: query.datetime_since,
    atBefore: query.datetime_before,
    successful: query.successful,
    reason: query.error_reason,
    list: query.list,
    type: query.type === undefined ? ScanType.UNSPECIFIED : readScanType(query.type),
    gate: query.gate,
    device: query.device,
    autoCheckedIn: query.auto_checked_in,
  };
}
