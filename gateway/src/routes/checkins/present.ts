import type { PastScan } from "@tessera/protos/gen/ticketing/checkin/v1/history";
import type { Shown } from "@tessera/schema/fields";
import { formatInstant } from "@tessera/values";
import { presentCheckin } from "../listed-positions/present.ts";
import type { pastCheckinShown } from "./schema.ts";

export function presentPastScan(scan: PastScan | undefined): Shown<typeof pastCheckinShown.properties> {
  if (scan?.checkin === undefined) throw new Error("checkin answered without a scan");
  const { checkin, refused } = scan;
  return {
    ...presentCheckin(checkin),
    successful: refused === undefined,
    error_reason: refused?.reason ?? null,
    error_explanation: refused?.explanation ?? null,
    position: scan.position ?? null,
    created: formatInstant(scan.createdAt),
  };
}
