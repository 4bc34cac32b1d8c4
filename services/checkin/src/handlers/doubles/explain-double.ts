import { answerOnce } from "@tessera/events/answer-once";
import type { Db } from "@tessera/kit/pg/database";
import type { ExplainDoubleRequest, ExplainDoubleResponse } from "@tessera/protos/gen/ticketing/checkin/v1/doubles";
import { Doubles } from "@tessera/protos/services";
import { lockTicket } from "../../store/annulled-scans.ts";
import { deleteDoubleNote, putDoubleNote } from "../../store/double-notes.ts";
import { lockForScan } from "../../store/failed-scans.ts";
import { toDouble } from "../../wire/double-messages.ts";
import { requireDouble, requirePlaceOfDouble } from "./get-double.ts";

/** Stores what somebody found out about a double, or takes it back. */
export async function explainDouble(
  request: ExplainDoubleRequest,
  { db }: { readonly db: Db },
): Promise<ExplainDoubleResponse> {
  const { organizer, event, text, by } = request;
  return answerOnce(
    db,
    Doubles.explainDouble,
    async (tx) => {
      const { position, list } = await requirePlaceOfDouble(tx, request);
      // Ticket and list are deleted with their notes, and would miss this one. They are locked in the order of scans.
      await lockTicket(tx, { organizer, event, id: position });
      await lockForScan(tx, "list", { organizer, event, id: list });
      await requireDouble(tx, request);
      if (text === "") await deleteDoubleNote(tx, request);
      else await putDoubleNote(tx, request, { position, list, text, by });
      return { double: toDouble(await requireDouble(tx, request)) };
    },
    { of: { organizer, event }, repeats: ["attendee_info"] },
  );
}
