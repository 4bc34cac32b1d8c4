import type { Sql } from "@tessera/kit/pg/sql";
import { bigint, rowsAs, text } from "@tessera/kit/pg/table";

export interface EventKey {
  readonly organizer: string;
  readonly event: string;
}

export interface EntityKey extends EventKey {
  readonly id: number;
}

export const eventKey = { organizer: text, event: text };

export const entityKey = { ...eventKey, id: bigint };

/** Keys as a table of a statement: `alias (organizer, event, id)`. */
export function keysAs(alias: string, keys: readonly EntityKey[]): Sql {
  return rowsAs(alias, entityKey, keys);
}

/** Identifies an entity among those of its kind, in memory. */
export function nameOf({ organizer, event, id }: EntityKey): string {
  return `${organizer}/${event}/${id}`;
}
