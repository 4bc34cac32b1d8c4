import type { Queryable } from "@tessera/kit/pg/database";
import { declareLock, type Lock, takeLocks } from "@tessera/kit/pg/locks";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { bigint, boolean, bytea, copyTable, instant, text } from "@tessera/kit/pg/table";
import { withKey } from "@tessera/kit/pg/with-key";
import { type Bucket, bucketOf } from "../domain/bucket.ts";
import type { CountedAs } from "../domain/counted-as.ts";
import { type EntityKey, type EventKey, entityKey, keysAs } from "./keys.ts";

/** The copy of positions: columns for decisions, filters and searches, and the encoded position. */
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
    sortName: text.orNull,
    orderEmail: text.orNull,
    orderPlacedAt: instant,
    searchText: text,
    voucher: bigint.orNull,
    pseudonymizationId: text,
    state: bytea,
  },
});

/** The stored fields of a position before its change. */
export interface HeldPosition extends EntityKey {
  readonly revision: number;
  readonly bucket: Bucket | null;
}

interface HeldRow extends EntityKey, Omit<Bucket, "countedAs"> {
  readonly revision: number;
  readonly countedAs: CountedAs | null;
}

/**
 * Locks positions until the transaction ends: a scan is decided before or after, never between the change and its
 * counts. All callers lock in key order, so that they cannot deadlock.
 */
export async function lockPositions(tx: Queryable, keys: readonly EntityKey[]): Promise<HeldPosition[]> {
  const rows = await tx.many<HeldRow>(selectHeld(keys, sql`for update`));
  return rows.map((row) => {
    const { organizer, event, id, revision } = row;
    return { organizer, event, id, revision, bucket: bucketOf(row) };
  });
}

/** Reads the revisions of positions without a lock: they may change at any time. */
export async function readRevisions(
  db: Queryable,
  keys: readonly EntityKey[],
): Promise<(EntityKey & { readonly revision: number })[]> {
  return db.many<HeldRow>(selectHeld(keys, sql``));
}

function selectHeld(keys: readonly EntityKey[], lock: Sql): Sql {
  return sql`
    select held.organizer, held.event, held.id, held.revision, held.subevent, held.item, held.variation,
           held.counted_as as "countedAs"
      from (select sent.organizer, sent.event, sent.id
              from ${keysAs("sent", keys)}
             order by sent.organizer collate "C", sent.event collate "C", sent.id) as wanted
     cross join lateral (
       select position.organizer, position.event, position.id, position.revision, position.subevent, position.item,
              position.variation, position.counted_as
         from position
        where ${withKey(sql`position.organizer, position.event, position.id`, sql`wanted.organizer, wanted.event, wanted.id`)}
        limit 1
          ${lock}) as held`;
}

/** Locks positions until the transaction ends. Skips locked rows: a busy ticket must not delay the others. */
export async function lockFreePositions(tx: Queryable, keys: readonly EntityKey[]): Promise<EntityKey[]> {
  return tx.many<HeldRow>(selectHeld(keys, sql`for no key update skip locked`));
}

const additionLock = declareLock("tessera checkin added positions");

/**
 * Takes the insert locks of these organizers in share mode: consumers of the topic do not exclude each other, since
 * Kafka delivers a position to one of them.
 */
export async function shareInserts(tx: Queryable, keys: readonly EventKey[]): Promise<void> {
  await takeLocks(tx, { shared: additionLocks(keys) });
}

/**
 * Takes the insert locks of these organizers: until the transaction ends no other transaction adds a position. A
 * missing row cannot be locked, and two inserts would count it twice.
 */
export async function lockInserts(tx: Queryable, keys: readonly EventKey[]): Promise<void> {
  await takeLocks(tx, { alone: additionLocks(keys) });
}

/** One lock for each organizer: a visitor of one does not wait for the import of another. */
function additionLocks(keys: readonly EventKey[]): Lock[] {
  return [...new Set(keys.map(({ organizer }) => organizer))].map((organizer) => additionLock(organizer));
}

/** Sets the lock timeout of this transaction: no longer than a visitor at the gate may wait. */
export async function waitBriefly(tx: Queryable): Promise<void> {
  await tx.run(sql`set local lock_timeout = '200ms'`);
}

/** Sorts before every position. */
export const firstKey: EntityKey = { organizer: "", event: "", id: 0 };

/**
 * Reads the next positions after a key, in key order, and finds those with a state older than a revision. Returns the
 * last key that it read; undefined at the end. Paged, because no index leads to old positions, and one statement for
 * many millions would exceed its time limit.
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
