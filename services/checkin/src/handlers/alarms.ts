import { cutPage } from "@tessera/kit/lists/cut-page";
import type { Db } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import type {
  AcknowledgeAlarmRequest,
  AcknowledgeAlarmResponse,
  ListAlarmsRequest,
  ListAlarmsResponse,
  NoteQueuesRequest,
  NoteQueuesResponse,
} from "@tessera/protos/gen/ticketing/checkin/v1/alarms";
import { topics } from "@tessera/protos/topics";
import { fault } from "../faults.ts";
import { noteQueues as note } from "../store/device-queues.ts";
import { requireEvent } from "../store/events.ts";
import { publishFacts } from "../store/publish-facts.ts";
import { acknowledge, countAlarms, findAlarm, pageAlarms } from "../store/stored-alarms.ts";
import { toAlarm, toAlarmFact } from "../wire/alarm-messages.ts";

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

/** Notes what the gateway has heard of the queues of devices. The job that raises alarms reads it. */
export async function noteQueues(
  { devices }: NoteQueuesRequest,
  { db }: { readonly db: Db },
): Promise<NoteQueuesResponse> {
  const queues = devices.map(({ organizer, device, queue, events }) => ({
    ...{ organizer, device, queue, events: events?.slugs ?? null },
  }));
  await db.transaction((tx) => note(tx, queues));
  return {};
}
