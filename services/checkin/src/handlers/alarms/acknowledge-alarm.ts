import type { Db } from "@tessera/kit/pg/database";
import type {
  AcknowledgeAlarmRequest,
  AcknowledgeAlarmResponse,
} from "@tessera/protos/gen/ticketing/checkin/v1/alarms";
import { topics } from "@tessera/protos/topics";
import { fault } from "../../faults.ts";
import { acknowledge, findAlarm } from "../../store/alarms.ts";
import { publishFacts } from "../../store/publish-facts.ts";
import { toAlarm, toAlarmFact } from "../../wire/alarm-messages.ts";

/** Notes who has seen an alarm first. Callers that come later get that answer. */
export async function acknowledgeAlarm(
  request: AcknowledgeAlarmRequest,
  { db }: { readonly db: Db },
): Promise<AcknowledgeAlarmResponse> {
  return db.transaction(async (tx) => {
    const acknowledged = await acknowledge(tx, request, request);
    if (acknowledged !== undefined) await publishFacts(tx, topics.alarmChanged.name, [toAlarmFact(acknowledged)]);
    const found = acknowledged ?? (await findAlarm(tx, request));
    if (found === undefined) throw fault("alarm_not_found", "The event has no such alarm.");
    return { alarm: toAlarm(found) };
  });
}
