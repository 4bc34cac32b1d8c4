import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { bigint, table, text } from "@tessera/kit/pg/table";
import type { Assignment } from "../domain/selection/layout.ts";
import { type EntityKey, type EventKey, entityKey } from "./keys.ts";

const assignments = table("assignment", {
  key: entityKey,
  columns: { layout: bigint, item: bigint, salesChannel: text },
});

type Row = Readonly<Record<string, unknown>>;

function toAssignment(row: Row): Assignment {
  const { organizer: _organizer, event: _event, ...assignment } = assignments.toRow(row);
  return assignment;
}

const ofEvent = ({ organizer, event }: EventKey) =>
  sql`assignment.organizer = ${organizer} and assignment.event = ${event}`;

export async function countAssignments(db: Queryable, place: EventKey): Promise<number> {
  const { count } = await db.one<{ count: number }>(
    sql`select count(*) as count from assignment where ${ofEvent(place)}`,
  );
  return count;
}

export async function pageAssignments(
  db: Queryable,
  place: EventKey,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<Assignment[]> {
  const rows = await db.many<Row>(sql`
    select ${assignments.selected}
      from assignment
     where ${ofEvent(place)}
     order by assignment.id
     limit ${limit} offset ${offset}`);
  return rows.map(toAssignment);
}

export async function findAssignment(db: Queryable, { id, ...place }: EntityKey): Promise<Assignment | undefined> {
  const row = await db.maybeOne<Row>(sql`
    select ${assignments.selected}
      from assignment
     where ${ofEvent(place)}
       and assignment.id = ${id}`);
  return row === undefined ? undefined : toAssignment(row);
}

export async function findOfLayouts(db: Queryable, place: EventKey, layouts: readonly number[]): Promise<Assignment[]> {
  const rows = await db.many<Row>(sql`
    select ${assignments.selected}
      from assignment
     where ${ofEvent(place)}
       and assignment.layout = any(${layouts}::bigint[])
     order by assignment.id`);
  return rows.map(toAssignment);
}

export async function findOfItems(db: Queryable, place: EventKey, items: readonly number[]): Promise<Assignment[]> {
  const rows = await db.many<Row>(sql`
    select ${assignments.selected}
      from assignment
     where ${ofEvent(place)}
       and assignment.item = any(${items}::bigint[])
     order by assignment.id`);
  return rows.map(toAssignment);
}

/** Takes ids for new assignments, from a range that no record may use. The ids rise. */
export async function nextAssignmentIds(tx: Queryable, count: number): Promise<number[]> {
  const rows = await tx.many<{ id: number }>(
    sql`select nextval('assignment_id') as id from generate_series(1, ${count}::integer)`,
  );
  return rows.map(({ id }) => id).sort((one, other) => one - other);
}

/** Upserts assignments; ids must be distinct. */
export async function putAssignments(tx: Queryable, place: EventKey, changed: readonly Assignment[]): Promise<void> {
  const { organizer, event } = place;
  await assignments.upsertChanged(
    tx,
    changed.map((assignment) => ({ ...assignment, organizer, event })),
  );
}

export async function deleteAssignments(tx: Queryable, place: EventKey, ids: readonly number[]): Promise<void> {
  const { organizer, event } = place;
  await assignments.delete(
    tx,
    ids.map((id) => ({ organizer, event, id })),
  );
}
