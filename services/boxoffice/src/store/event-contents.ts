import type { Tx } from "@tessera/kit/pg/database";
import { identifier, type Sql, sql } from "@tessera/kit/pg/sql";
import { isPlacedIn } from "@tessera/kit/pg/with-key";
import type { Scope } from "../domain/scope.ts";

/** The tables of the contents of an event, each with the rest of its key. */
const tables = {
  position: { name: "id", type: sql`bigint` },
  order: { name: "code", type: sql`text` },
  sale: { name: "id", type: sql`uuid` },
  sold_ticket: { name: "position", type: sql`bigint` },
  revoked_secret: { name: "id", type: sql`bigint` },
  blocked_secret: { name: "id", type: sql`bigint` },
  seat: { name: "id", type: sql`bigint` },
  question: { name: "id", type: sql`bigint` },
  voucher_claim: { name: "id", type: sql`bigint` },
  former_use: { name: "position", type: sql`bigint` },
  held_claim: { name: "voucher", type: sql`bigint` },
  capacity_hold: { name: "id", type: sql`uuid` },
  quota: { name: "id", type: sql`bigint` },
  item: { name: "id", type: sql`bigint` },
  category: { name: "id", type: sql`bigint` },
  tax_rule: { name: "id", type: sql`bigint` },
  subevent: { name: "id", type: sql`bigint` },
  document_change: { name: "kind", type: sql`text` },
} as const satisfies Record<string, { readonly name: string; readonly type: Sql }>;

export type EventTable = keyof typeof tables;

export interface Deleted {
  readonly key: string;
  readonly namesVoucher: boolean;
}

/** Deletes the next rows of an event after a key, in key order, and all rows of the last key. */
export async function deleteNext(
  tx: Tx,
  table: EventTable,
  { scope, after, limit }: { readonly scope: Scope; readonly after: string | undefined; readonly limit: number },
): Promise<Deleted[]> {
  const { name, type } = tables[table];
  const [rows, key] = [identifier(table), identifier(name)];
  // A lower bound: without it, each batch would scan the dead rows of earlier batches.
  const isBehind = after === undefined ? sql`true` : sql`kept.${key} > ${after}::${type}`;
  const namesVoucher = table === "position" ? sql`kept.voucher is not null` : sql`false`;
  return tx.many<Deleted>(sql`
    with next as materialized (
      select kept.ctid
        from ${rows} as kept
       where kept.organizer = ${scope.organizer}
         and kept.event = ${scope.event}
         and ${isBehind}
       order by kept.${key}
       fetch first (${limit}::bigint) rows with ties
    ), deleted as (
      delete from ${rows} as kept
       where ${isPlacedIn(sql`kept`, sql`next`)}
      returning kept.${key}, ${namesVoucher} as names_voucher
    )
    select deleted.${key}::text as key, deleted.names_voucher as "namesVoucher"
      from deleted
     order by deleted.${key}`);
}
