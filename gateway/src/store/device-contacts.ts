import type { Queryable } from "@tessera/kit/pg/database";
import { inMicroseconds } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import { bigint, instant, rowsAs, text } from "@tessera/kit/pg/table";

/** What a device has reported; null: it has not reported that. Instants are in microseconds since 1970. */
export interface DeviceContact {
  readonly organizer: string;
  readonly device: number;
  readonly seenAt: number;
  /** When it was given all changes of the sync feed. */
  readonly syncedAt: number | null;
  /** How many scans it has still to upload. */
  readonly queue: number | null;
  /** In percent. */
  readonly battery: number | null;
}

/** What was heard since it was stored last. */
export interface HeardContact extends Omit<DeviceContact, "seenAt"> {
  /** Null: it has sent no further request. */
  readonly seenAt: number | null;
}

const columns = {
  ...{ organizer: text, device: bigint, seenAt: instant.orNull },
  ...{ syncedAt: instant.orNull, queue: bigint.orNull, battery: bigint.orNull },
};

/** Stores what was heard of devices; several gateways hear of one. In key order, against deadlocks. */
export async function storeContacts(db: Queryable, contacts: readonly HeardContact[]): Promise<void> {
  if (contacts.length === 0) return;
  await db.run(sql`
    insert into device_contact as known (organizer, device, seen_at, synced_at, queue, battery)
    select heard.organizer, heard.device, coalesce(heard.seen_at, '-infinity'), heard.synced_at, heard.queue, heard.battery
      from ${rowsAs("heard", columns, contacts)}
     where heard.seen_at is not null
        or exists (select from device_contact as stored
                    where stored.organizer = heard.organizer and stored.device = heard.device)
     order by heard.organizer, heard.device
        on conflict (organizer, device) do update
       set seen_at = greatest(known.seen_at, excluded.seen_at),
           synced_at = greatest(known.synced_at, excluded.synced_at),
           queue = case when excluded.seen_at >= known.seen_at then coalesce(excluded.queue, known.queue) else known.queue end,
           battery = case when excluded.seen_at >= known.seen_at then coalesce(excluded.battery, known.battery) else known.battery end`);
}

/** Finds what was heard of these devices of an organizer. */
export function findContacts(
  db: Queryable,
  { organizer, devices }: { readonly organizer: string; readonly devices: readonly number[] },
): Promise<DeviceContact[]> {
  return db.many<DeviceContact>(sql`
    select contact.organizer, contact.device, ${inMicroseconds(sql`contact.seen_at`)} as "seenAt",
           ${inMicroseconds(sql`contact.synced_at`)} as "syncedAt", contact.queue, contact.battery
      from device_contact as contact
     where contact.organizer = ${organizer}
       and contact.device = any(${devices}::bigint[])`);
}

/** Devices that are not revoked. One that was not heard of for half a day is put away. */
const heardLately = sql`
      from device_contact as contact
      join credential
        on credential.organizer = contact.organizer
       and credential.kind = 'device'
       and credential.id = contact.device::text
     where contact.seen_at > now() - interval '12 hours'
       and credential.active`;

/** A device of an event that was heard of lately. */
export interface HeardDevice extends Omit<DeviceContact, "organizer"> {
  readonly name: string;
  /** That which it is set to. */
  readonly gate: number | null;
}

/** No screen shows more of them. */
const mostHeard = 1000;

/** Finds the devices for an event that were heard of lately, the latest first. */
export function findHeardDevices(
  db: Queryable,
  { organizer, event }: { readonly organizer: string; readonly event: string },
): Promise<HeardDevice[]> {
  return db.many<HeardDevice>(sql`
    select contact.device, credential.name, (credential.device ->> 'gate')::bigint as gate,
           ${inMicroseconds(sql`contact.seen_at`)} as "seenAt", ${inMicroseconds(sql`contact.synced_at`)} as "syncedAt",
           contact.queue, contact.battery
    ${heardLately}
       and contact.organizer = ${organizer}
       and (credential.all_events or ${event} = any(credential.events))
     order by contact.seen_at desc
     limit ${mostHeard}`);
}

/** A device that has scans to upload, as it said within five minutes. */
export interface QueuedDevice {
  readonly organizer: string;
  readonly device: number;
  readonly queue: number;
  /** The events that it is for; null: all of its organizer. */
  readonly events: readonly string[] | null;
}

/** Finds the devices that have scans to upload, of all organizers, those with the most first. */
export function findQueues(db: Queryable, { most }: { readonly most: number }): Promise<QueuedDevice[]> {
  return db.many<QueuedDevice>(sql`
    select contact.organizer, contact.device, contact.queue,
           case when not credential.all_events then credential.events end as events
    ${heardLately}
       and contact.seen_at > now() - interval '5 minutes'
       and contact.queue > 0
     order by contact.queue desc, contact.organizer, contact.device
     limit ${most}`);
}

/** The devices of a gate that were heard of lately. */
export interface GateHealth {
  readonly organizer: string;
  /** Null: devices without a gate. */
  readonly gate: number | null;
  /** Since the device was heard of that is silent longest. */
  readonly silentSeconds: number;
  /** Since the device had all changes that lacks them longest; null: none has read the sync feed. */
  readonly syncedSeconds: number | null;
  /** Scans that all of them have still to upload. */
  readonly queue: number;
  /** Of the device with the lowest battery, in percent; null: no device has reported one. */
  readonly battery: number | null;
}

/** Summarizes the devices of all gates, at most so many gates. */
export function summarizeGates(db: Queryable, { most }: { readonly most: number }): Promise<GateHealth[]> {
  return db.many<GateHealth>(sql`
    select contact.organizer, (credential.device ->> 'gate')::bigint as gate,
           extract(epoch from now() - min(contact.seen_at))::float8 as "silentSeconds",
           extract(epoch from now() - min(contact.synced_at))::float8 as "syncedSeconds",
           coalesce(sum(contact.queue), 0)::bigint as queue, min(contact.battery) as battery
    ${heardLately}
     group by contact.organizer, 2
     order by contact.organizer, 2
     limit ${most}`);
}

/** A device that somebody should look at, with what it is now. */
export interface TroubledDevice extends Omit<GateHealth, "queue"> {
  readonly device: number;
  readonly name: string;
  readonly queue: number | null;
  /** It is silent with scans to upload; or it sends requests with an empty battery, or without all changes. */
  readonly trouble: "silent" | "battery" | "behind";
}

/** Finds devices in trouble, those with the most scans to upload first. */
export function findTroubledDevices(db: Queryable, { most }: { readonly most: number }): Promise<TroubledDevice[]> {
  return db.many<TroubledDevice>(sql`
    select heard.organizer, heard.device, heard.name, heard.gate, heard."silentSeconds", heard."syncedSeconds",
           heard.queue, heard.battery, heard.trouble
      from (
    select contact.organizer, contact.device, credential.name, (credential.device ->> 'gate')::bigint as gate,
           extract(epoch from now() - contact.seen_at)::float8 as "silentSeconds",
           extract(epoch from now() - contact.synced_at)::float8 as "syncedSeconds", contact.queue, contact.battery,
           case when contact.seen_at < now() - interval '10 minutes' then case when contact.queue > 0 then 'silent' end
                when contact.battery <= 10 then 'battery'
                when contact.synced_at < now() - interval '10 minutes' then 'behind' end as trouble
    ${heardLately}) as heard
     where heard.trouble is not null
     order by heard.queue desc nulls last, heard.organizer, heard.device
     limit ${most}`);
}
