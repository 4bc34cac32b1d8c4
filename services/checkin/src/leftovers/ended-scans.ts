import { defineWork, json, nothing, untilDone } from "@tessera/kit/jobs/work";
import type { EventKey } from "../store/keys.ts";

/** An event that was deleted, at an instant in microseconds since 1970. */
export interface EndedEvent extends EventKey {
  readonly deletedAt: number;
}

/** Deletes the scans of unknown codes in an event that was deleted. A new event may have the same slug: its scans stay. */
export const removeEndedScans = defineWork<EndedEvent, void>("remove ended scans", {
  payload: json(),
  result: nothing,
  leaseMs: 30_000,
  tries: untilDone,
  keepMs: 0,
  atOnce: 1,
});
