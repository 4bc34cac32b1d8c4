import type { PastScan } from "@tessera/protos/gen/ticketing/checkin/v1/history";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { formatInstant } from "../../instant.ts";

/** Writes a scan as the history of its event shows it. */
export function presentPastScan(scan: PastScan | undefined) {
  if (scan?.checkin === undefined) throw new Error("checkin answered without a scan");
  const { checkin, refused } = scan;
  return {
    id: checkin.id,
    successful: refused === undefined,
    error_reason: refused?.reason ?? null,
    error_explanation: refused?.explanation ?? null,
    position: scan.position ?? null,
    datetime: formatInstant(checkin.at),
    created: formatInstant(scan.createdAt),
    list: checkin.list,
    auto_checked_in: checkin.autoCheckedIn,
    gate: checkin.gate ?? null,
    device: checkin.device ?? null,
    device_id: checkin.deviceId ?? null,
    type: checkin.type === ScanType.EXIT ? "exit" : "entry",
  };
}
