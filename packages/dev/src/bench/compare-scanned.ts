import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";

/** Tickets with one scan of a load: neither a lost one nor a doubled one counts, so these cannot make up for each other. */
export async function countScanned(checkin: Db): Promise<number> {
  const { count } = await checkin.one<{ count: number }>(sql`
    select count(*)::bigint as count
      from (select scan.position
              from scan
             where scan.list = 1 and scan.successful and scan.nonce is not null
             group by scan.position
            having count(*) = 1) as once`);
  return count;
}
