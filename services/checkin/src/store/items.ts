import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { EntityKey, EventKey } from "./keys.ts";

/** What checkin keeps of an item. */
export interface ItemCopy extends EntityKey {
  readonly revision: number;
  readonly name: Readonly<Record<string, string>>;
  readonly internalName: string | null;
  readonly admission: boolean;
  readonly category: number | null;
  readonly position: number;
  readonly checkinAttention: boolean;
  readonly checkinText: string | null;
  readonly generateTickets: boolean | null;
  readonly variations: readonly VariationCopy[];
  /** The item resource in JSON. */
  readonly document: string;
}

/** As it stands in the column `variations`; the names are those of its JSON. */
export interface VariationCopy {
  readonly id: number;
  readonly value: Readonly<Record<string, string>>;
  readonly position: number;
  readonly checkinAttention: boolean;
  readonly checkinText: string | null;
}

/** What a list's status says of an item besides its counts. */
export interface ItemInfo {
  readonly id: number;
  readonly name: Readonly<Record<string, string>>;
  readonly internalName: string | null;
  readonly admission: boolean;
  readonly variations: readonly VariationCopy[];
}

interface Row {
  id: number;
  name: Record<string, string>;
  internal_name: string | null;
  admission: boolean;
  variations: VariationCopy[];
}

/** Lists the items of an event as its shop shows them: by category, those without one last. */
export async function listItems(db: Queryable, { organizer, event }: EventKey): Promise<ItemInfo[]> {
  const rows = await db.many<Row>(sql`
    select item.id, item.name, item.internal_name, item.admission, item.variations
      from item
      left join category
        on category.organizer = item.organizer and category.event = item.event and category.id = item.category
     where item.organizer = ${organizer}
       and item.event = ${event}
     order by category.position nulls last, item.position, item.id`);
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    internalName: row.internal_name,
    admission: row.admission,
    variations: row.variations,
  }));
}

/** Takes over items, unless a newer state is here already. */
export async function putItems(db: Queryable, items: readonly ItemCopy[]): Promise<void> {
  if (items.length === 0) return;
  await db.run(sql`
    insert into item (organizer, event, id, revision, name, internal_name, admission, category, position,
                      checkin_attention, checkin_text, generate_tickets, variations, document)
    select sent.organizer, sent.event, sent.id, sent.revision, sent.name, sent.internal_name, sent.admission, sent.category,
           sent.position, sent.checkin_attention, sent.checkin_text, sent.generate_tickets, sent.variations,
           sent.document
      from unnest(${items.map((item) => item.organizer)}::text[],
                  ${items.map((item) => item.event)}::text[],
                  ${items.map((item) => item.id)}::bigint[],
                  ${items.map((item) => item.revision)}::bigint[],
                  ${items.map((item) => JSON.stringify(item.name))}::jsonb[],
                  ${items.map((item) => item.internalName)}::text[],
                  ${items.map((item) => item.admission)}::boolean[],
                  ${items.map((item) => item.category)}::bigint[],
                  ${items.map((item) => item.position)}::bigint[],
                  ${items.map((item) => item.checkinAttention)}::boolean[],
                  ${items.map((item) => item.checkinText)}::text[],
                  ${items.map((item) => item.generateTickets)}::boolean[],
                  ${items.map((item) => JSON.stringify(item.variations))}::jsonb[],
                  ${items.map((item) => item.document)}::jsonb[])
           as sent (organizer, event, id, revision, name, internal_name, admission, category, position,
                    checkin_attention, checkin_text, generate_tickets, variations, document)
        on conflict (organizer, event, id) do update
           set revision = excluded.revision, name = excluded.name, internal_name = excluded.internal_name,
               admission = excluded.admission, category = excluded.category, position = excluded.position,
               checkin_attention = excluded.checkin_attention, checkin_text = excluded.checkin_text,
               generate_tickets = excluded.generate_tickets, variations = excluded.variations,
               document = excluded.document
         where item.revision < excluded.revision`);
}
