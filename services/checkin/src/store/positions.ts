import { toByteaArray } from "@tessera/kit/pg/binary-array";
import type { Queryable } from "@tessera/kit/pg/database";
import { toNullableTimestamp, toTimestamp } from "@tessera/kit/pg/instants";
import { declareLock, takeLocks } from "@tessera/kit/pg/locks";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { type Bucket, bucketOf } from "../domain/bucket.ts";
import type { CountedAs, OrderStatus } from "../domain/counted-as.ts";
import type { EntityKey } from "./keys.ts";

/** A position as it is stored: what decisions, filters and searches use, and the whole of it encoded. */
export interface PositionCopy extends EntityKey {
  readonly revision: number;
  readonly positionid: number;
  readonly orderCode: string;
  readonly item: number;
  readonly variation: number | null;
  readonly subevent: number | null;
  readonly addonTo: number | null;
  readonly voucher: number | null;
  readonly secret: string;
  readonly pseudonymizationId: string;
  readonly orderStatus: OrderStatus;
  readonly validIfPending: boolean;
  readonly requireApproval: boolean;
  readonly canceled: boolean;
  readonly blocked: boolean;
  readonly validFrom: number | null;
  readonly validUntil: number | null;
  readonly countedAs: CountedAs | null;
  readonly attendeeName: string | null;
  readonly orderEmail: string | null;
  readonly orderPlacedAt: number;
  readonly searchText: string;
  readonly state: Uint8Array;
}

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

/** Tells which revisions of positions are there, without waiting for anybody: they may be others by now. */
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
 * Until the transaction ends, nobody adds a position who is the only one to do so. Whoever is told of positions by their
 * topic shares this with all others who are: no two of them are told of one position.
 */
export async function addAmongOthers(tx: Queryable): Promise<void> {
  await takeLocks(tx, { shared: [additionLock()] });
}

/** Until the transaction ends, nobody else adds a position. What is not there yet cannot be held, and would be counted twice. */
export async function addAlone(tx: Queryable): Promise<void> {
  await takeLocks(tx, { alone: [additionLock()] });
}

/** Until the transaction ends, no lock is waited for longer than a visitor at the gate may. */
export async function waitBriefly(tx: Queryable): Promise<void> {
  await tx.run(sql`set local lock_timeout = '200ms'`);
}

/** Comes before every position. */
export const beforeAll: EntityKey = { organizer: "", event: "", id: 0 };

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

/** Stores positions, in the place of older states of them. */
export async function putPositions(tx: Queryable, positions: readonly PositionCopy[]): Promise<void> {
  if (positions.length === 0) return;
  await tx.run(sql`
    insert into position (organizer, event, id, revision, positionid, order_code, item, variation, subevent, addon_to, secret,
                          order_status, valid_if_pending, require_approval, canceled, blocked, valid_from_at, valid_until_at,
                          counted_as, attendee_name, order_email, order_placed_at, search_text, voucher,
                          pseudonymization_id, state)
    select sent.organizer, sent.event, sent.id, sent.revision, sent.positionid, sent.order_code, sent.item, sent.variation,
           sent.subevent, sent.addon_to, sent.secret, sent.order_status, sent.valid_if_pending, sent.require_approval,
           sent.canceled, sent.blocked, sent.valid_from_at, sent.valid_until_at, sent.counted_as, sent.attendee_name,
           sent.order_email, sent.order_placed_at, sent.search_text, sent.voucher, sent.pseudonymization_id, sent.state
      from unnest(${positions.map((position) => position.organizer)}::text[],
                  ${positions.map((position) => position.event)}::text[],
                  ${positions.map((position) => position.id)}::bigint[],
                  ${positions.map((position) => position.revision)}::bigint[],
                  ${positions.map((position) => position.positionid)}::bigint[],
                  ${positions.map((position) => position.orderCode)}::text[],
                  ${positions.map((position) => position.item)}::bigint[],
                  ${positions.map((position) => position.variation)}::bigint[],
                  ${positions.map((position) => position.subevent)}::bigint[],
                  ${positions.map((position) => position.addonTo)}::bigint[],
                  ${positions.map((position) => position.secret)}::text[],
                  ${positions.map((position) => position.orderStatus)}::text[],
                  ${positions.map((position) => position.validIfPending)}::boolean[],
                  ${positions.map((position) => position.requireApproval)}::boolean[],
                  ${positions.map((position) => position.canceled)}::boolean[],
                  ${positions.map((position) => position.blocked)}::boolean[],
                  ${positions.map((position) => toNullableTimestamp(position.validFrom))}::timestamptz[],
                  ${positions.map((position) => toNullableTimestamp(position.validUntil))}::timestamptz[],
                  ${positions.map((position) => position.countedAs)}::text[],
                  ${positions.map((position) => position.attendeeName)}::text[],
                  ${positions.map((position) => position.orderEmail)}::text[],
                  ${positions.map((position) => toTimestamp(position.orderPlacedAt))}::timestamptz[],
                  ${positions.map((position) => position.searchText)}::text[],
                  ${positions.map((position) => position.voucher)}::bigint[],
                  ${positions.map((position) => position.pseudonymizationId)}::text[],
                  ${toByteaArray(positions.map((position) => position.state))}::bytea[])
           as sent (organizer, event, id, revision, positionid, order_code, item, variation, subevent, addon_to, secret,
                    order_status, valid_if_pending, require_approval, canceled, blocked, valid_from_at, valid_until_at,
                    counted_as, attendee_name, order_email, order_placed_at, search_text, voucher, pseudonymization_id,
                    state)
        on conflict (organizer, event, id) do update
           set revision = excluded.revision, positionid = excluded.positionid, order_code = excluded.order_code,
               item = excluded.item, variation = excluded.variation, subevent = excluded.subevent,
               addon_to = excluded.addon_to, secret = excluded.secret, order_status = excluded.order_status,
               valid_if_pending = excluded.valid_if_pending, require_approval = excluded.require_approval,
               canceled = excluded.canceled, blocked = excluded.blocked, valid_from_at = excluded.valid_from_at,
               valid_until_at = excluded.valid_until_at, counted_as = excluded.counted_as,
               attendee_name = excluded.attendee_name, order_email = excluded.order_email,
               order_placed_at = excluded.order_placed_at, search_text = excluded.search_text,
               voucher = excluded.voucher, pseudonymization_id = excluded.pseudonymization_id, state = excluded.state`);
}

/** Puts into the search index what waits beside it; waits for whoever is doing so. */
export async function mergeSearchIndex(db: Queryable): Promise<void> {
  await db.run(sql`select gin_clean_pending_list('position_by_search_text')`);
}
