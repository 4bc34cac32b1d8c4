import { countDeadLetters } from "@tessera/kit/bus/operators";
import { readOutbox } from "@tessera/kit/bus/outbox-rows";
import type { Db } from "@tessera/kit/pg/database";
import type { OpenService } from "../topics/open-schemas.ts";

/** An API key or a device, without its token. */
export interface Credential {
  readonly organizer: string;
  readonly kind: "api_key" | "device";
  readonly id: string;
  readonly name: string;
  readonly isActive: boolean;
}

export interface EventCounts {
  readonly organizer: string;
  readonly event: string;
  readonly items: number;
  readonly orders: number;
  readonly positions: number;
  readonly lists: number;
}

/** The consumer lag of a service, and its waiting facts. */
export interface ServiceLag {
  readonly service: string;
  readonly waiting: number;
  readonly seconds: number;
  readonly parked: number;
}

/** Reads a table of the status, of which services have rows. */
export async function readShown<T extends object>(opened: readonly OpenService[], table: string): Promise<T[]> {
  const parts = opened.flatMap(({ shown: { [table]: rows }, db }) => (rows === undefined ? [] : [db.many<T>(rows)]));
  return (await Promise.all(parts)).flat();
}

const nothing: EventCounts = { organizer: "", event: "", items: 0, orders: 0, positions: 0, lists: 0 };

/** Reads how much each event has: services count what they own. What is left of a removed event has no items, not even zero. */
export async function readEvents(opened: readonly OpenService[]): Promise<EventCounts[]> {
  const rows = await readShown<Partial<EventCounts>>(opened, "events");
  const byEvent = Map.groupBy(rows, ({ organizer, event }) => `${organizer}/${event}`);
  const present = [...byEvent.values()].filter((parts) => parts.some(({ items }) => items !== undefined));
  return present.map((parts) => parts.reduce<EventCounts>((all, part) => Object.assign(all, part), { ...nothing }));
}

/** A reader needs no greater number. */
const mostCounted = 10_000;

/** Reads the lag of a service's facts. */
export async function readLag({ name, db }: { readonly name: string; readonly db: Db }): Promise<ServiceLag> {
  const { waiting, seconds } = await readOutbox(db, { atMost: mostCounted });
  const letters = await countDeadLetters(db, { group: name, atMost: mostCounted });
  return { service: name, waiting, seconds, parked: letters.reduce((sum, { count }) => sum + count, 0) };
}
