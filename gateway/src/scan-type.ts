import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";

/** Reads what kind of scan a client means; whoever does not say means an entry. */
export function readScanType(word: string | null | undefined): ScanType {
  return word === "exit" ? ScanType.EXIT : ScanType.ENTRY;
}

/** Names the kind of a scan as clients know it. */
export function nameScanType(type: ScanType): "entry" | "exit" {
  return type === ScanType.EXIT ? "exit" : "entry";
}
