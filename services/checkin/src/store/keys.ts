import { bigint, text } from "@tessera/kit/pg/table";

export interface EventKey {
  readonly organizer: string;
  readonly event: string;
}

/** Something of an event that has an id. */
export interface EntityKey extends EventKey {
  readonly id: number;
}

/** The key of a table whose rows are things of events. */
export const entityKey = { organizer: text, event: text, id: bigint };

/** Tells entities of one kind apart, in memory. */
export function nameOf({ organizer, event, id }: EntityKey): string {
  return `${organizer}/${event}/${id}`;
}
