import type { ArrivedScan } from "@tessera/admission";
import type { Clock } from "@tessera/kit/clock";
import { currentContext } from "@tessera/kit/context";
import type { Scan } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { secondsAhead } from "../../domain/seconds-ahead.ts";
import type { CheckinEvents } from "../../report-events.ts";
import { toArrivedScan } from "../../wire/scan-messages.ts";
import type { UnknownTickets } from "./ask-boxoffice.ts";

export interface ArrivalDeps {
  readonly clock: Clock;
  readonly events: Pick<CheckinEvents, "scanAhead">;
  readonly unknownTickets: Pick<UnknownTickets, "mayBeAsked">;
}

/** Longer ones cannot be indexed; the gateway refuses them with a better error. */
const longestNonce = 190;

/** Reads a scan as it is decided. Undefined: it cannot be stored. */
export function arrive(
  scan: Scan,
  { others }: Pick<ArrivedScan, "others">,
  { clock, events, unknownTickets }: ArrivalDeps,
): ArrivedScan | undefined {
  const { nonce = "" } = scan;
  if (nonce.length > longestNonce && [...nonce].length > longestNonce) return undefined;
  const now = clock.now();
  const seconds = secondsAhead({ at: scan.at ?? now, now });
  if (seconds !== undefined) events.scanAhead(scan, { seconds });
  const { traceparent } = currentContext();
  return toArrivedScan(scan, { now, traceparent, others, mayBeNew: unknownTickets.mayBeAsked(scan.organizer) });
}
