import { cutPage } from "@tessera/kit/lists/cut-page";
import type { Reads } from "@tessera/kit/pg/reads";
import type { ListAlarmsRequest, ListAlarmsResponse } from "@tessera/protos/gen/ticketing/checkin/v1/alarms";
import { countAlarms, pageAlarms } from "../../store/alarms.ts";
import { requireEvent } from "../../store/events.ts";
import { toAlarm } from "../../wire/alarm-messages.ts";

/** Pages through the alarms of an event, those that have ended too. */
export async function listAlarms(
  request: ListAlarmsRequest,
  { reads }: { readonly reads: Reads },
): Promise<ListAlarmsResponse> {
  return reads.inTurn(request.organizer, async (db) => {
    await requireEvent(db, request);
    return db.transaction(async (tx) => {
      const count = await countAlarms(tx, request);
      const { page, limit, offset } = cutPage(request, count);
      const alarms = await pageAlarms(tx, request, { limit, offset });
      return { alarms: alarms.map(toAlarm), count, page };
    });
  });
}
