import type { ApplyRecordsRequest, ApplyRecordsResponse } from "@tessera/protos/gen/ticketing/records/v1/records";
import { applyRecordsOf, type RecordStores } from "@tessera/records/apply-records";
import { recordOwner } from "../records/record-owner.ts";
import type { LayoutEvents } from "../report-events.ts";

const apply = applyRecordsOf(recordOwner);

/** Applies records of layouts and assignments. The sender waits until what they refer to has arrived here. */
export async function applyRecords(
  request: ApplyRecordsRequest,
  { events, ...stores }: RecordStores & { readonly events: LayoutEvents },
): Promise<ApplyRecordsResponse> {
  const response = await apply(request, stores);
  events.layoutsImported(request.records.length - response.rejected.length);
  return response;
}
