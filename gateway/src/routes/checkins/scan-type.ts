import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";

/** Reads the type of a scan; without one it is an entry. */
export function readScanType(word: string | null | undefined): ScanType {
  return word === "exit" ? ScanType.EXIT : ScanType.ENTRY;
}

/** Names the kind of a scan as clients know it. */
export function nameScanType(type: ScanType): "entry" | "exit" {
  return type === ScanType.EXIT ? "exit" : "entry";
}
