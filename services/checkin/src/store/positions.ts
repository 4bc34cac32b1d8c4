import type { Queryable } from "@tessera/kit/pg/database";
import { declareLock, type Lock, takeLocks } from "@tessera/kit/pg/locks";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { bigint, boolean, bytea, copyTable, instant, text } from "@tessera/kit/pg/table";
import { withKey } from "@tessera/kit/pg/with-key";
import { type Bucket, bucketOf } from "../domain/bucket.ts";
import type { CountedAs } from "../domain/counted-as.ts";
import { type EntityKey, type EventKey, entityKey, keysAs } from "./keys.ts";

/** A position as it is stored: what decisions, filters and searches use, and the whole of it encoded. */
export const positions = copyTable("position", {
  key: entityKey,
  // `sortName` is made without accents: copies that have some are fetched again.
  remade: 1,
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

/** What is known of a position before it changes. */
export interface HeldPosition extends EntityKey {
  readonly revision: number;
  readonly bucket: Bucket | null;
}

interface HeldRow extends EntityKey, Omit<Bucket, "countedAs"> {
  readonly revision: number;
  readonly countedAs: CountedAs | null;
}

/**
 * Locks positions until the transaction ends: scans of them are decided before or after, never between the change and
 * its counts. All callers lock in one order, so that they cannot deadlock.
 */
export async function lockPositions(tx: Queryable, keys: readonly EntityKey[]): Promise<HeldPosition[]> {
  const rows = await tx.many<HeldRow>(selectHeld(keys, sql`for update`));
  return rows.map((row) => {
    const { organizer, event, id, revision } = row;
    return { organizer, event, id, revision, bucket: bucketOf(row) };
  });
}

/** Reads the revisions of positions without a lock: they may change meanwhile. */
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

/**
 * Locks positions until the transaction ends, and returns them. It skips locked rows: a ticket that is being changed must
 * not delay the others.
 */
export async function lockFreePositions(tx: Queryable, keys: readonly EntityKey[]): Promise<EntityKey[]> {
  return tx.many<HeldRow>(selectHeld(keys, sql`for no key update skip locked`));
}

const additionLock = declareLock("tessera checkin added positions");

/**
 * Until the transaction ends, no other one that has locked the inserts adds a position of the organizers of these.
 * Consumers of the topic share this lock with each other: no two of them are delivered one position.
 */
export async function shareInserts(tx: Queryable, keys: readonly EventKey[]): Promise<void> {
  await takeLocks(tx, { shared: additionLocks(keys) });
}

/**
 * Until the transaction ends, no other one adds a position of the organizers of these. A missing row cannot be locked,
 * and two inserts would count it twice.
 */
export async function lockInserts(tx: Queryable, keys: readonly EventKey[]): Promise<void> {
  await takeLocks(tx, { alone: additionLocks(keys) });
}

/** One for each organizer: a visitor of one does not wait for the import of another. */
function additionLocks(keys: readonly EventKey[]): Lock[] {
  return [...new Set(keys.map(({ organizer }) => organizer))].map((organizer) => additionLock(organizer));
}

/** Until the transaction ends, a lock is waited for no longer than a visitor at the gate may wait. */
export async function waitBriefly(tx: Queryable): Promise<void> {
  await tx.run(sql`set local lock_timeout = '200ms'`);
}

/** Comes before every position. */
export const firstKey: EntityKey = { organizer: "", event: "", id: 0 };

/**
 * Reads so many positions that follow a key, in the order of their keys, and finds those with a state older than a
 * revision. Returns the last key that it read; undefined at the end. There may be many millions, and no index leads to
 * old ones: one statement for all of them would run into its time limit.
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
