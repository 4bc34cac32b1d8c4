import type { ApplyRecordsRequest, ApplyRecordsResponse } from "@tessera/protos/gen/ticketing/records/v1/records";
import { applyRecordsOf, type RecordStores } from "@tessera/records/apply-records";
import { recordOwner } from "../records/record-owner.ts";
import type { CheckinEvents } from "../report-events.ts";

const apply = applyRecordsOf(recordOwner);

/** Applies records of check-in lists. The sender waits until the entities that they refer to have arrived here. */
export async function applyRecords(
  request: ApplyRecordsRequest,
  { events, ...stores }: RecordStores & { readonly events: CheckinEvents },
): Promise<ApplyRecordsResponse> {
  const response = await apply(request, stores);
  events.listsImported(request.records.length - response.rejected.length);
  return response;
}
