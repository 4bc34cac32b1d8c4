import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";

/** What the database has of a load of scans, compared with its answers. */
export interface Compared {
  /** Tickets that were answered 201. */
  readonly admitted: number;
  /** Those of them that do not have one scan. */
  readonly lostOrDoubled: number;
  /** Other tickets that have scans. */
  readonly unanswered: number;
}

/** Compares the scans of a load, which was the first one, with the tickets that were answered 201. */
export async function compareScanned(checkin: Db, admitted: ReadonlySet<number>): Promise<Compared> {
  const rows = await checkin.many<{ ticket: number; scans: number }>(sql`
    select scan.position as ticket, count(*) as scans
      from scan
     where scan.list = 1 and scan.successful and scan.nonce is not null
     group by scan.position`);
  const right = rows.filter(({ ticket, scans }) => admitted.has(ticket) && scans === 1).length;
  const unanswered = rows.filter(({ ticket }) => !admitted.has(ticket)).length;
  return { admitted: admitted.size, lostOrDoubled: admitted.size - right, unanswered };
}

/** Whether each answer is true. */
export function isTrue({ lostOrDoubled, unanswered }: Compared): boolean {
  return lostOrDoubled === 0 && unanswered === 0;
}
