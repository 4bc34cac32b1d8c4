import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { bigint, rowsAs, text } from "@tessera/kit/pg/table";

const columns = { organizer: text, event: text, position: bigint, list: bigint, nonce: text };

/** A scan of a ticket on a list, that may have been sent several times. */
interface Sending {
  readonly organizer: string;
  readonly event: string;
  readonly position: number;
  readonly list: number;
  readonly nonce: string;
}

/** Finds those, by their indexes, that are stored as refused. */
export async function findRefusedSendings(db: Queryable, sendings: readonly Sending[]): Promise<Set<number>> {
  const rows = await db.many<{ ord: number }>(sql`
    select sent.ord
      from ${rowsAs("sent", columns, sendings, { isNumbered: true })}
     cross join lateral (
       select 1
         from scan
        where scan.position = sent.position
          and scan.list = sent.list
          and scan.event = sent.event
          and scan.organizer = sent.organizer
          and not scan.successful
          and scan.nonce = sent.nonce
        limit 1) as refused`);
  return new Set(rows.map(({ ord }) => ord - 1));
}
