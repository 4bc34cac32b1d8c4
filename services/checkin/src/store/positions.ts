import type { Queryable } from "@tessera/kit/pg/database";
import { declareLock, takeLocks } from "@tessera/kit/pg/locks";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { bigint, boolean, bytea, copyTable, instant, text } from "@tessera/kit/pg/table";
import { type Bucket, bucketOf } from "../domain/bucket.ts";
import type { CountedAs } from "../domain/counted-as.ts";
import { type EntityKey, entityKey } from "./keys.ts";

/** A position as it is stored: what decisions, filters and searches use, and the whole of it encoded. */
export const positions = copyTable("position", {
  key: entityKey,
  columns: {
    positionid: bigint,
    orderCode: text,
    item: bigint,
    variation: bigint.orNull,
    subevent: bigint.orNull,
    addonTo: bigint.orNull,
    secret: text,
    orderStatus: text,
    validIfPending: boolean,
    requireApproval: boolean,
    canceled: boolean,
    blocked: boolean,
    validFrom: instant.orNull,
    validUntil: instant.orNull,
    countedAs: text.orNull,
    attendeeName: text.orNull,
    orderEmail: text.orNull,
    orderPlacedAt: instant,
    searchText: text,
    voucher: bigint.orNull,
    pseudonymizationId: text,
    state: bytea,
  },
});

/** What is known of a position before it changes. */
export interface HeldPosition extends EntityKey {
  readonly revision: number;
  readonly bucket: Bucket | null;
}

interface HeldRow {
  organizer: string;
  event: string;
  id: number;
  revision: number;
  subevent: number | null;
  item: number;
  variation: number | null;
  counted_as: CountedAs | null;
}

/**
 * Holds positions until the transaction ends: scans of them are decided before
 * or after, never between the change and its counts. In one order, so that two
 * who hold several never wait for each other in a circle.
 */
export async function lockPositions(tx: Queryable, keys: readonly EntityKey[]): Promise<HeldPosition[]> {
  const rows = await tx.many<HeldRow>(selectHeld(keys, sql`for update`));
  return rows.map((row) => ({
    organizer: row.organizer,
    event: row.event,
    id: row.id,
    revision: row.revision,
    bucket: bucketOf({
      subevent: row.subevent,
      item: row.item,
      variation: row.variation,
      countedAs: row.counted_as,
    }),
  }));
}

/** Reads the revisions of positions without waiting for a lock: they may be others by now. */
export async function readRevisions(
  db: Queryable,
  keys: readonly EntityKey[],
): Promise<(EntityKey & { readonly revision: number })[]> {
  const rows = await db.many<HeldRow>(selectHeld(keys, sql``));
  return rows.map(({ organizer, event, id, revision }) => ({ organizer, event, id, revision }));
}

/**
 * The key is asked for as the first of a range, which only the primary key can
 * give without sorting. To a plan that was made while the table was new, any
 * index that begins with the event looks as good for a key that is equal, and
 * it would walk the whole event for each of them.
 */
function selectHeld(keys: readonly EntityKey[], lock: Sql): Sql {
  return sql`
    select held.organizer, held.event, held.id, held.revision, held.subevent, held.item, held.variation, held.counted_as
      from (select sent.organizer, sent.event, sent.id
              from unnest(${keys.map((key) => key.organizer)}::text[], ${keys.map((key) => key.event)}::text[],
                          ${keys.map((key) => key.id)}::bigint[]) as sent (organizer, event, id)
             order by sent.organizer collate "C", sent.event collate "C", sent.id) as wanted
     cross join lateral (
       select position.organizer, position.event, position.id, position.revision, position.subevent, position.item,
              position.variation, position.counted_as
         from position
        where (position.organizer, position.event, position.id) >= (wanted.organizer, wanted.event, wanted.id)
          and (position.organizer, position.event, position.id) <= (wanted.organizer, wanted.event, wanted.id)
        order by position.organizer, position.event, position.id
        limit 1
          ${lock}) as held`;
}

const additionLock = declareLock("tessera checkin added positions");

/**
 * Until the transaction ends, no other one that has locked the inserts adds a position. Consumers of the topic share
 * this lock with each other: no two of them are delivered one position.
 */
export async function shareInserts(tx: Queryable): Promise<void> {
  await takeLocks(tx, { shared: [additionLock()] });
}

/** Until the transaction ends, no other one adds a position. What is not there yet cannot be locked, and would be counted twice. */
export async function lockInserts(tx: Queryable): Promise<void> {
  await takeLocks(tx, { alone: [additionLock()] });
}

/** Until the transaction ends, no lock is waited for longer than a visitor at the gate may. */
export async function waitBriefly(tx: Queryable): Promise<void> {
  await tx.run(sql`set local lock_timeout = '200ms'`);
}

/** Comes before every position. */
export const firstKey: EntityKey = { organizer: "", event: "", id: 0 };

/**
 * Looks through as many positions behind a key, in the order of their keys, and finds those whose state is older than a
 * revision. Returns how far it has come, undefined where there is no more. There may be many millions: no index leads to
 * old ones, and a statement that looked through all of them would be ended before it is through.
 */
export async function findOlderPositions(
  tx: Queryable,
  { after, revision, count }: { after: EntityKey; revision: number; count: number },
): Promise<{ readonly older: readonly EntityKey[]; readonly upTo: EntityKey | undefined }> {
  const seen = await tx.many<EntityKey & { readonly older: boolean }>(sql`
    select position.organizer, position.event, position.id, position.revision < ${revision} as older
      from position
     where (position.organizer, position.event, position.id) > (${after.organizer}, ${after.event}, ${after.id}::bigint)
     order by position.organizer, position.event, position.id
     limit ${count}`);
  return { older: seen.filter(({ older }) => older), upTo: seen.length < count ? undefined : seen.at(-1) };
}

/** Puts into the search index what waits beside it; waits for another process that does so. */
export async function mergeSearchIndex(db: Queryable): Promise<void> {
  await db.run(sql`select gin_clean_pending_list('position_by_search_text')`);
}
