import type { Db } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";

interface Copy {
  readonly name: string;
  /** Rows of the same shape: those of the owner, and those of a copy. */
  readonly owned: Sql;
  readonly copied: Sql;
}

const copies: readonly Copy[] = [
  {
    name: "checkin's positions",
    owned: sql`
      select position.organizer, position.event, position.id, positionid, order_code, item, variation, subevent,
             (select (sent ->> 'addon_to')::bigint
                from boxoffice."order", jsonb_array_elements("order".data -> 'positions') as sent
               where "order".organizer = position.organizer
                 and "order".event = position.event
                 and "order".code = position.order_code
                 and (sent ->> 'id')::bigint = position.id) as addon_to,
             secret, canceled, state
        from boxoffice.position`,
    copied: sql`
      select organizer, event, id, positionid, order_code, item, variation, subevent, addon_to, secret, canceled, state
        from checkin.position`,
  },
  {
    name: "checkin's products",
    owned: sql`select organizer, event, id, data #>> '{name,en}' as name, data ->> 'category' as category from boxoffice.item`,
    copied: sql`select organizer, event, id, name #>> '{en}' as name, category::text from checkin.item`,
  },
  {
    name: "checkin's categories",
    owned: sql`select organizer, event, id, data ->> 'position' as place from boxoffice.category`,
    copied: sql`select organizer, event, id, position::text as place from checkin.category`,
  },
  {
    name: "checkin's events",
    owned: sql`select organizer, slug as event, data #>> '{name,en}' as name from boxoffice.event`,
    copied: sql`select organizer, event, name #>> '{en}' as name from checkin.event`,
  },
  {
    name: "the gateway's events",
    owned: sql`select organizer, slug as event from boxoffice.event`,
    copied: sql`select organizer, event from gateway.event`,
  },
  {
    name: "the gateway's credentials",
    owned: sql`
      select organizer, kind, id, token_hash, data ->> 'name' as name, coalesce((data ->> 'active')::boolean, not (data ->> 'revoked')::boolean) as active
        from boxoffice.credential`,
    copied: sql`select organizer, kind, id, token_hash, name, active from gateway.credential`,
  },
];

/** Compares the entities of boxoffice with the copies of other services; returns where they differ. */
export async function compareCopies(db: Db): Promise<string[]> {
  const found: string[] = [];
  for (const { name, owned, copied } of copies) {
    const missing = await db.many(sql`(${owned}) except (${copied})`);
    const strange = await db.many(sql`(${copied}) except (${owned})`);
    const { count } = await db.one<{ count: number }>(sql`select count(*) as count from (${owned}) as owned`);
    if (missing.length > 0) found.push(`${name} lack ${missing.length} of ${count}: ${describe(missing[0])}`);
    if (strange.length > 0) found.push(`${name} hold ${strange.length} that no owner has: ${describe(strange[0])}`);
  }
  return found;
}

function describe(row: unknown): string {
  return JSON.stringify(row, (_name, value: unknown) => (Buffer.isBuffer(value) ? value.toString("hex") : value)).slice(
    0,
    300,
  );
}
