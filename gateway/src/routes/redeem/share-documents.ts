import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";

/** Gives each outcome its documents, which travel on the first of the outcomes that share them. */
export function shareDocuments(outcomes: readonly ScanOutcome[]): ScanOutcome[] {
  return outcomes.map((outcome) => {
    const documents = outcome.documentsAt === undefined ? undefined : outcomes[outcome.documentsAt]?.documents;
    return documents === undefined ? outcome : { ...outcome, documents };
  });
}
