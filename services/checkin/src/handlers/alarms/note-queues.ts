import type { Db } from "@tessera/kit/pg/database";
import type { NoteQueuesRequest, NoteQueuesResponse } from "@tessera/protos/gen/ticketing/checkin/v1/alarms";
import { noteQueues as note } from "../../store/device-queues.ts";

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
