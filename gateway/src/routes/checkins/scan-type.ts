import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";

/** Reads the type of a scan; the default is entry. */
export function readScanType(word: string | null | undefined): ScanType {
  return word === "exit" ? ScanType.EXIT : ScanType.ENTRY;
}

export function nameScanType(type: ScanType): "entry" | "exit" {
  return type === ScanType.EXIT ? "exit" : "entry";
}
