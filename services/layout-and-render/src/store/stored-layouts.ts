import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { bigint, boolean, table, text } from "@tessera/kit/pg/table";
import type { Layout } from "../domain/selection/layout.ts";
import { fault } from "../faults.ts";
import { type EntityKey, type EventKey, entityKey } from "./keys.ts";

const layouts = table("layout", {
  key: entityKey,
  columns: {
    name: text,
    isDefault: boolean,
    elements: text,
    background: text.orNull,
    backgroundSize: bigint.orNull,
    backgroundSha256: text.orNull,
  },
});

type Row = Readonly<Record<string, unknown>>;

function toLayout(row: Row): Layout {
  const { id, name, isDefault, elements, background, backgroundSize, backgroundSha256 } = layouts.toRow(row);
  const isStored = background !== null && backgroundSize !== null && backgroundSha256 !== null;
  return {
    ...{ id, name, isDefault, elements },
    background: isStored ? { name: background, size: backgroundSize, sha256: backgroundSha256 } : null,
  };
}

const ofEvent = ({ organizer, event }: EventKey) => sql`layout.organizer = ${organizer} and layout.event = ${event}`;

export async function countLayouts(db: Queryable, place: EventKey): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`select count(*) as count from layout where ${ofEvent(place)}`);
  return count;
}

/** Reads a page of the layouts of an event, sorted by name. */
export async function pageLayouts(
  db: Queryable,
  place: EventKey,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<Layout[]> {
  const rows = await db.many<Row>(sql`
    select ${layouts.selected}
      from layout
     where ${ofEvent(place)}
     order by layout.name, layout.id
     limit ${limit} offset ${offset}`);
  return rows.map(toLayout);
}

export async function findLayouts(db: Queryable, place: EventKey, ids: readonly number[]): Promise<Layout[]> {
  const rows = await db.many<Row>(sql`
    select ${layouts.selected}
      from layout
     where ${ofEvent(place)}
       and layout.id = any(${ids}::bigint[])
     order by layout.id`);
  return rows.map(toLayout);
}

export async function findLayoutIds(
  db: Queryable,
  place: EventKey,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const rows = await db.many<{ id: number }>(sql`
    select layout.id
      from layout
     where ${ofEvent(place)}
       and layout.id = any(${ids}::bigint[])`);
  return new Set(rows.map(({ id }) => id));
}

/** Finds a layout of an event; throws if the event has no such layout. */
export async function requireLayout(db: Queryable, { id, ...place }: EntityKey): Promise<Layout> {
  const [layout] = await findLayouts(db, place, [id]);
  if (layout === undefined) throw fault("layout_not_found", "The event has no such layout.");
  return layout;
}

export async function findDefault(db: Queryable, place: EventKey): Promise<number | undefined> {
  const row = await db.maybeOne<{ id: number }>(sql`
    select layout.id
      from layout
     where ${ofEvent(place)}
       and layout.is_default`);
  return row?.id;
}

/** Takes an id for a new layout, from a range that no record may use. */
export async function nextLayoutId(tx: Queryable): Promise<number> {
  const { id } = await tx.one<{ id: number }>(sql`select nextval('layout_id') as id`);
  return id;
}

/** Upserts layouts; ids must be distinct. */
export async function putLayouts(tx: Queryable, place: EventKey, changed: readonly Layout[]): Promise<void> {
  const { organizer, event } = place;
  await layouts.upsertChanged(
    tx,
    changed.map(({ background, ...layout }) => ({
      ...layout,
      ...{ organizer, event },
      background: background?.name,
      backgroundSize: background?.size,
      backgroundSha256: background?.sha256,
    })),
  );
}

export async function deleteLayouts(
  tx: Queryable,
  { organizer, event }: EventKey,
  ids: readonly number[],
): Promise<void> {
  await layouts.delete(
    tx,
    ids.map((id) => ({ organizer, event, id })),
  );
}

export async function clearDefault(tx: Queryable, place: EventKey): Promise<void> {
  await tx.run(sql`update layout set is_default = false where ${ofEvent(place)} and layout.is_default`);
}

/** Makes the first layout of an event by name its default. */
export async function promoteFirst(tx: Queryable, place: EventKey): Promise<void> {
  await tx.run(sql`
    update layout
       set is_default = true
     where ${ofEvent(place)}
       and layout.id = (select layout.id
                          from layout
                         where ${ofEvent(place)}
                         order by layout.name, layout.id
                         limit 1)`);
}

/** The bytes of the backgrounds of an organizer. */
export async function sumBackgrounds(db: Queryable, organizer: string): Promise<number> {
  const { bytes } = await db.one<{ bytes: number }>(sql`
    select coalesce(sum(layout.background_size), 0)::bigint as bytes from layout where layout.organizer = ${organizer}`);
  return bytes;
}

export async function findBackgrounds(db: Queryable, names: readonly string[]): Promise<string[]> {
  const rows = await db.many<{ background: string }>(sql`
    select layout.background
      from layout
     where layout.background = any(${names}::text[])`);
  return rows.map(({ background }) => background);
}

export async function findWithBackground(db: Queryable): Promise<(EventKey & { id: number; background: string })[]> {
  return db.many(sql`
    select layout.organizer, layout.event, layout.id, layout.background
      from layout
     where layout.background is not null
     order by layout.organizer, layout.event, layout.id`);
}

/** Finds the background of this name in an event that exists. */
export async function findBackground(
  db: Queryable,
  { name, ...place }: EventKey & { readonly name: string },
): Promise<Layout["background"]> {
  const row = await db.maybeOne<Row>(sql`
    select ${layouts.selected}
      from layout
      join event using (organizer, event)
     where layout.background = ${name}
       and ${ofEvent(place)}`);
  return row === undefined ? null : toLayout(row).background;
}
