import { deriveFactId } from "@tessera/kit/bus/fact-id";
import type { ScanDecided } from "@tessera/protos/gen/ticketing/checkin/v1/facts";
import { topics } from "@tessera/protos/topics";

/** The fact that tells of a scan, as it stands in the outbox. */
export interface ScanFact {
  /** The same whenever the scan is told of, so that nobody acts on it twice. */
  readonly id: string;
  readonly key: string;
  readonly payload: Uint8Array;
}

/** Writes the fact of a scan. */
export function tellOfScan(scan: ScanDecided): ScanFact {
  return {
    // Its time, too: a database that was put back gives ids anew.
    id: deriveFactId(`${topics.scanDecided.name} ${scan.organizer}/${scan.event}/${scan.scan} ${scan.at}`),
    key: topics.scanDecided.key(scan),
    payload: topics.scanDecided.encode(scan),
  };
}
