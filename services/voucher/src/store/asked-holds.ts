import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { EventKey } from "./keys.ts";

/** A hold of capacity in boxoffice. */
export interface AskedHold extends EventKey {
  readonly hold: string;
}

/**
 * Stores a hold before boxoffice is asked, in a transaction of its own: from now on the hold is confirmed or released.
 * Gives up earlier holds of the same request, and returns them: the caller releases them first.
 */
export async function rememberHold(
  db: Queryable,
  { hold, organizer, event }: AskedHold,
  requestId: string | undefined,
): Promise<AskedHold[]> {
  const request = requestId ?? null;
  return db.many<AskedHold>(sql`
    with remembered as (
      insert into asked_hold (hold, organizer, event, request_id)
      values (${hold}::uuid, ${organizer}, ${event}, ${request}::uuid)
    )
    update asked_hold
       set is_released = true
     where asked_hold.request_id = ${request}::uuid
    returning asked_hold.hold, asked_hold.organizer, asked_hold.event`);
}

/** Confirms the hold in this transaction. False: it was given up. */
export async function confirmHold(tx: Queryable, hold: string): Promise<boolean> {
  const deleted = await tx.run(sql`
    delete from asked_hold
     where asked_hold.hold = ${hold}::uuid
       and not asked_hold.is_released`);
  return deleted > 0;
}

/** Gives up a hold, so that no transaction can confirm it. False: it was confirmed. Its release deletes the row. */
export async function giveUpHold(db: Queryable, hold: string): Promise<boolean> {
  return (await db.run(sql`update asked_hold set is_released = true where asked_hold.hold = ${hold}::uuid`)) > 0;
}

/** Gives up holds whose request must have ended, and returns all holds to be released. */
export async function findHoldsToRelease(
  db: Queryable,
  { seconds, limit }: { readonly seconds: number; readonly limit: number },
): Promise<AskedHold[]> {
  return db.many<AskedHold>(sql`
    update asked_hold
       set is_released = true
     where asked_hold.hold in (select old.hold
                                 from asked_hold as old
                                where old.is_released or old.asked_at < now() - ${seconds} * interval '1 second'
                                order by old.asked_at
                                limit ${limit}
                                  for update skip locked)
    returning asked_hold.hold, asked_hold.organizer, asked_hold.event`);
}

/** Deletes the row of a released hold. */
export async function forgetHold(db: Queryable, hold: string): Promise<void> {
  await db.run(sql`delete from asked_hold where asked_hold.hold = ${hold}::uuid and asked_hold.is_released`);
}

/** Holds that may be in progress, for the reconciliation with boxoffice. */
export const askedRows = sql`
  select asked_hold.organizer, asked_hold.event, asked_hold.hold as id, 0 as revision, '' as content
    from asked_hold`;
