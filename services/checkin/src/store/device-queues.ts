import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { bigint, rowsAs, text, texts } from "@tessera/kit/pg/table";
import type { QueueSample } from "../domain/queue-alarms.ts";
import type { EventKey } from "./keys.ts";

/** The scans that a device has still to upload, as it reported them. */
export interface DeviceQueue {
  readonly organizer: string;
  readonly device: number;
  readonly queue: number;
  /** The events that it is for; null: all of its organizer. */
  readonly events: readonly string[] | null;
}

const sent = { organizer: text, device: bigint, queue: bigint, events: texts.orNull };

/** Stores the queues of all devices that have one. Queues of other devices, and old ones, are deleted. */
export async function noteQueues(tx: Queryable, queues: readonly DeviceQueue[]): Promise<void> {
  await tx.run(sql`
    delete from device_queue
     where device_queue.told_at < now() - interval '6 minutes'
        or (device_queue.organizer, device_queue.device) not in (
             select sent.organizer, sent.device from ${rowsAs("sent", { organizer: text, device: bigint }, queues)})`);
  if (queues.length === 0) return;
  await tx.run(sql`
    insert into device_queue (organizer, device, queue, events)
    select sent.organizer, sent.device, sent.queue,
           case when sent.events is not null then array(select jsonb_array_elements_text(sent.events)) end
      from ${rowsAs("sent", sent, queues)}
        on conflict (organizer, device, told_at) do nothing`);
}

export function readQueues(db: Queryable, { organizer, event }: EventKey): Promise<QueueSample[]> {
  return db.many<QueueSample>(sql`
    select device_queue.device, floor(extract(epoch from device_queue.told_at))::bigint as "toldAt", device_queue.queue
      from device_queue
     where device_queue.organizer = ${organizer}
       and (device_queue.events is null or ${event} = any(device_queue.events))`);
}
